#!/bin/sh
# Fills the root folder of the image: the program with its Python, a shell for the launcher, two users, a folder for temporary files,
# and what all of this is and under which licences. Runs where the image is built, in BASE.
set -eu
root=$1

mkdir -p "$root/etc" "$root/usr/local/bin"
mkdir -m 1777 "$root/tmp"
krm-fn install "$root/usr/local/bin"

for file in /bin/sh $(ldd /bin/sh | grep -o '/[^ ]*'); do
    mkdir -p "$root${file%/*}"
    cp -L "$file" "$root$file"
done

# kustomize and kpt ask for `nobody` by name.
printf '%s\n' 'root:x:0:0:root:/:/bin/sh' 'nobody:x:65534:65534:nobody:/:/bin/sh' > "$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' > "$root/etc/group"

python3 "${0%/*}/sbom.py" "$root"
