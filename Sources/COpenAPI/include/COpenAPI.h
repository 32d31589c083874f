#ifndef COPENAPI_H
#define COPENAPI_H
#include <stddef.h>

/*
 * The files of docs/openapi, as they are. In C because Swift has nothing like #embed: as an array of so many literals they take its
 * compiler half a minute.
 */

/* The description of the control API. */
const unsigned char *c_openapi_control(size_t *count);
/* The description of the mock device's API. */
const unsigned char *c_openapi_device(size_t *count);
#endif
