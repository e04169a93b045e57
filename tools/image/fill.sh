#!/bin/sh
# Fills the root folder of the image: the program with its Python, a shell, the few tools that scripts around it need, two users, a folder
# for temporary files, and what all of this is and under which licences. Runs where the image is built, in BASE.
set -eu
root=$1
bin=$root/usr/local/bin

mkdir -p "$bin" "$root/etc"
mkdir -m 1777 "$root/tmp"
for folder in bin lib lib64; do
    mkdir -p "$root/usr/$folder"
    ln -s "usr/$folder" "$root/$folder"
done

krm-fn install "$bin"
sed 's/ -I -S -m krm_fn / /' "$bin/krm-fn" >"$bin/python3"
chmod 755 "$bin/python3"

for tool in bash cat cp env grep ls mkdir mktemp mv readlink rm sed sh true; do
    for file in "/bin/$tool" $(ldd "/bin/$tool" | grep -o '/[^ ]*'); do
        mkdir -p "$root${file%/*}"
        cp -L "$file" "$root$file"
    done
done

# kustomize and kpt ask for `nobody` by name.
printf '%s\n' 'root:x:0:0:root:/:/bin/sh' 'nobody:x:65534:65534:nobody:/:/bin/sh' >"$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >"$root/etc/group"

/usr/bin/env python3 "${0%/*}/sbom.py" "$root"
