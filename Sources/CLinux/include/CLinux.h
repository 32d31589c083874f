#ifndef CLINUX_H
#define CLINUX_H
#include "freelist.h"
#include "reactor.h"
#endif
