#!/bin/sh
# Runs $EXECUTABLE with at most $DESCRIPTORS file descriptors.
ulimit -n "$DESCRIPTORS" || exit 99
exec "$EXECUTABLE" "$@"
