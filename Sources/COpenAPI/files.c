#include "COpenAPI.h"

// Of C23, and understood by every compiler that builds this Swift.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char control[] = {
#embed "../../docs/openapi/control.yaml"
};

static const unsigned char device[] = {
#embed "../../docs/openapi/device.yaml"
};

const unsigned char *c_openapi_control(size_t *count) {
  *count = sizeof control;
  return control;
}

const unsigned char *c_openapi_device(size_t *count) {
  *count = sizeof device;
  return device;
}
