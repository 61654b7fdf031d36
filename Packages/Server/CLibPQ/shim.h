#ifndef TOMBOLO_CLIBPQ_SHIM_H
#define TOMBOLO_CLIBPQ_SHIM_H

#include <libpq-fe.h>

#endif
