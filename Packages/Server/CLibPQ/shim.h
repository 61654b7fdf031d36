#ifndef TOMBOLO_CLIBPQ_SHIM_H
#define TOMBOLO_CLIBPQ_SHIM_H

#include <libpq-fe.h>

// What libpq's sockets are waited for with; Swift's Glibc module leaves it out.
#ifdef __linux__
#include <sys/epoll.h>
#endif

#endif
