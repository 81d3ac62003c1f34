#!/bin/sh
# Provides the system packages that zenlake needs: as root it announces them and installs them with
# apt-get, otherwise it says what to install.
#
#   bootstrap.sh venv DIR    a virtual environment in DIR
#   bootstrap.sh compiler    a C compiler and the headers of Python
#   bootstrap.sh java        Java 17 or later, which Spark needs
set -eu

python=${PYTHON:-python3}

fail() {
    echo "zenlake: $*" >&2
    exit 1
}

ask() {
    "$python" -c "import sys, sysconfig; print($1)"
}

# need REASON PACKAGE...
need() {
    reason=$1
    shift
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        fail "$reason; please install: $* (as root: apt-get install $*)"
    fi
    echo "zenlake: $reason; installing with apt-get: $*"
    # A broken third-party source must not stop us: the installation shows whether it mattered.
    apt-get update -qq >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" \
        >/dev/null 2>&1 || fail "apt-get install $* failed"
}

compiles() {
    echo '#include <Python.h>' |
        ${CC:-$(ask 'sysconfig.get_config_var("CC") or "cc"')} \
            -x c -fsyntax-only -I"$(ask 'sysconfig.get_path("include")')" - 2>/dev/null
}

# The first number of the version; Java 8 and before print 1, which is too old as well.
java_version() {
    "${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p'
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "Python 3.11 or newer is needed, '$python' is not: try make PYTHON=python3.11"
version=$(ask '"%d.%d" % sys.version_info[:2]')

case $1 in
venv)
    # Debian keeps ensurepip in a package of its own.
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        need "'$python' cannot make virtual environments" "python$version-venv"
    "$python" -m venv "$2"
    ;;
compiler)
    if ! compiles; then
        headers=$(ask 'sysconfig.get_path("include")')/Python.h
        if [ -e "$headers" ]; then
            need "compiling zenlake needs a C compiler" gcc libc6-dev
        else
            need "compiling zenlake needs a C compiler and $headers" gcc "python$version-dev"
        fi
        compiles || fail "no working C compiler, or no headers for '$python'"
    fi
    ;;
java)
    found=$(java_version || true)
    if [ "${found:-0}" -lt 17 ]; then
        need "Spark needs Java 17 or later" default-jre-headless
        found=$(java_version || true)
        [ "${found:-0}" -ge 17 ] ||
            fail "Spark needs Java 17 or later: install one and set JAVA_HOME"
    fi
    ;;
esac
