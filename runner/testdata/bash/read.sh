n=0
p() { n=$((n+1)); echo "$n [$?] $(printf '<%s>' "$@")"; }
IFS=: read a b c <<< "1::3"; p "$a" "$b" "$c"
IFS=: read a b <<< "1:2:"; p "$a" "$b"
IFS=: read a b <<< "1:2::"; p "$a" "$b"
IFS=: read a <<< "1:"; p "$a"
IFS=: read a <<< "1::"; p "$a"
IFS=: read a b c <<< "1 : 2: 3 "; p "$a" "$b" "$c"
IFS=' :' read a b c <<< "a : b  :: c  "; p "$a" "$b" "$c"
IFS=' :' read a b c d <<< " : b  :: c  "; p "$a" "$b" "$c" "$d"
read a b <<< "  x   y z  "; p "$a" "$b"
read <<< "  x   y z  "; p "$REPLY"
read -r <<< '  x\ty\\'; p "$REPLY"
read <<< '  x\ty\\z\ w'; p "$REPLY"
read a b <<< 'x\ y z'; p "$a" "$b"
read -r a b <<< 'x\ y z'; p "$a" "$b"
printf 'one\\\ntwo\nthree' > f.txt
{ read a; p "$a"; read b; p "$b"; read c; p "$c"; } < f.txt
read -ra arr <<< "1 2  3"; p "${arr[@]}"
IFS=: read -ra arr <<< "1::3:"; p "${#arr[@]}" "${arr[@]}"
IFS=: read -ra arr <<< ":1"; p "${#arr[@]}" "${arr[@]}"
IFS=, read -ra arr <<< ""; p "${#arr[@]}" "${arr[@]}"
IFS= read -r a b <<< "  x y "; p "$a" "$b"
IFS= read -r a < /dev/null; p "$a"
read -n 3 a <<< "abcdef"; p "$a"
read -n3 a b <<< "a bcdef"; p "$a" "$b"
read -N 3 a <<< $'a\nbcd'; p "$a"
read -N 10 a <<< $'a\nbcd'; p "$a"
read -d : a <<< "x y:z"; p "$a"
read -d '' a < <(printf 'x\ny\0z'); p "$a"
while IFS= read -r -d '' x; do p "$x"; done < <(printf 'a b\0c\nd\0')
printf 'héllo wörld' | { read -n 4 a; p "$a"; }
read -t 0.2 a < <(sleep 2); p "$a"
read -t 2 a < <(echo quick); p "$a"
f() { local x; read x; p "$x"; }; f <<< inner; p "$x"
echo 'a,b' | { IFS=, read q r; p "$q" "$r"; }
command read z <<< viacommand; p "$z"
builtin read z <<< viabuiltin; p "$z"
declare -A m; read m[k] <<< v; p "${m[k]}"
read 'arr[1]' <<< el; p "${arr[1]}"
read 1bad <<< v; p
set -- ; while read -r l || [[ -n $l ]]; do p "$l"; done < <(printf 'x\ny')
read a b c <<< $'\ttab\tsep x'; p "$a" "$b" "$c"
IFS=$'\t' read a b c <<< $'1\t\t3'; p "$a" "$b" "$c"
IFS=, read a b c <<< ',,'; p "$a" "$b" "$c"
IFS=, read a b c <<< 'x,y,z,w,'; p "$a" "$b" "$c"
IFS=, read a b c <<< 'x, y ,z'; p "$a" "$b" "$c"
IFS='é' read a b <<< 'xéy'; p "$a" "$b"
read -r a <<< $'cr\r'; p "$a"; echo -n "$a" | od -c | head -1
read -r a <<< "it's \"q\" \$HOME \`x\`"; p "$a"
read -rp "prompt> " a <<< "prompted"; p "$a"
read -s a <<< secret; p "$a"
unset IFS; read a b <<< " d e "; p "$a" "$b"
printf '\xff\xfe x\n' | { read a b; p "$b"; printf '%s' "$a" | od -An -tx1; }
read -t 0 a <<< x; p
readonly ro=1; read ro <<< 2; p "$ro"
