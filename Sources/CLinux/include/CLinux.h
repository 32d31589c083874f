#ifndef CLINUX_H
#define CLINUX_H
#include "reactor.h"
#endif
