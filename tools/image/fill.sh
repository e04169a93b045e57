#!/bin/sh
# Fills the root folder of the image: the program with its Python, a shell, a few tools for scripts, two users, a folder for temporary
# files, and a bill of materials with the licences. The build runs it in BASE.
#   sh tools/image/fill.sh ROOT [options of krm-fn install]
set -eu
root=$1
shift
bin=$root/usr/local/bin

mkdir -p "$bin" "$root/etc"
mkdir -m 1777 "$root/tmp"
for folder in bin lib lib64; do
    mkdir -p "$root/usr/$folder"
    ln -s "usr/$folder" "$root/$folder"
done

krm-fn install "$@" "$bin"
sed 's/ -I -S -m krm_fn / /' "$bin/krm-fn" >"$bin/python3"
chmod 755 "$bin/python3"

for tool in bash cat cp env grep ls mkdir mktemp mv readlink rm sed sh true; do
    for file in "/bin/$tool" $(ldd "/bin/$tool" | grep -o '/[^ ]*'); do
        mkdir -p "$root${file%/*}"
        cp -L "$file" "$root$file"
    done
done

# kustomize and kpt start containers as the user `nobody`.
printf '%s\n' 'root:x:0:0:root:/:/bin/sh' 'nobody:x:65534:65534:nobody:/:/bin/sh' >"$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >"$root/etc/group"

/usr/bin/env python3 "${0%/*}/sbom.py" "$root"
