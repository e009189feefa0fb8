# Another command runs with coretap's libopencsd in front; its arguments, output and exit code are its own.
needs opencsd
$ coretap perf-env sh -c 'echo "$LD_LIBRARY_PATH" | sed "s/:.*//; s/.*opencsd$/opencsd/"; exit 7' sh --quiet
| opencsd
[7]
needs opencsd
needs LD_LIBRARY_PATH
$ LD_LIBRARY_PATH=/first coretap perf-env sh -c 'echo "$LD_LIBRARY_PATH" | sed "s/.*opencsd:/opencsd:/; s/\(first\).*/\1/"'
| opencsd:/first
# The folder can be named, and what is not there is said.
$ mkdir "$T/lib" && touch "$T/lib/libopencsd_c_api.so.1" && coretap perf-env --library-dir "$T/lib" sh -c 'echo "${LD_LIBRARY_PATH%%:*}"'
| $T/lib
$ coretap perf-env --library-dir "$T" perf report
! coretap: $T/libopencsd_c_api.so.1: No such file or directory; perf was not run; name its folder with --library-dir
[2]
needs opencsd
$ coretap perf-env "$T/nothing"
! coretap: $T/nothing: the command cannot be run: No such file or directory
[2]
$ coretap perf-env
! coretap perf-env: COMMAND is missing; name the command to run, such as perf report
! Try 'coretap perf-env --help'.
[2]
$ coretap perf-env --id 10 perf
! coretap perf-env: unknown option '--id'
! Try 'coretap perf-env --help'.
[2]
