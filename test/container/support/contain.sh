# Runs a command as a container would: process 1, a read-only root of its own, no user, no capabilities, /data and
# /tmp alone to write to. For a shell that is root in namespaces of its own.
#   sh contain.sh ROOT APP DATA SECRETS NODE UID COMMAND...
set -eu
root=$1 app=$2 data=$3 secrets=$4 node=$5 user=$6
shift 6

mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"
for folder in app data secrets node proc dev tmp; do mkdir "$root/$folder"; done
for system in /bin /sbin /lib /lib64 /usr /etc; do
  if [ -L "$system" ]; then
    cp -P "$system" "$root$system"
  elif [ -d "$system" ]; then
    mkdir "$root$system"
    mount --bind "$system" "$root$system"
    mount -o remount,bind,ro "$root$system"
  fi
done
mount --bind "$app" "$root/app" && mount -o remount,bind,ro "$root/app"
mount --bind "$secrets" "$root/secrets" && mount -o remount,bind,ro "$root/secrets"
mount --bind "$node" "$root/node" && mount -o remount,bind,ro "$root/node"
mount --bind "$data" "$root/data"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777,size=64m,noexec,nosuid,nodev tmpfs "$root/tmp"
mount -o remount,ro "$root"

exec unshare --root="$root" --wd=/data \
  setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all \
  "$@"
