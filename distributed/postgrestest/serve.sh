# serve.sh INITDB POSTGRES OPTION...
# Runs a new server until standard input ends, and then removes the working folder.
initdb=$1 postgres=$2
shift 2
"$initdb" --pgdata=data --username=postgres --pwfile=password --auth=scram-sha-256 \
  --encoding=UTF8 --locale=C --no-sync || exit
"$postgres" -D data "$@" &
# The log ends with the server.
exec 2>/dev/null
cat >/dev/null
# At once and without a checkpoint; shared memory is given back.
kill -QUIT $!
wait
rm -rf "$PWD"
