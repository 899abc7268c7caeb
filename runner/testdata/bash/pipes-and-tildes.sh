echo x | read a; echo "[$a]"
n=0; printf '1\n2\n' | while read -r l; do n=$((n+1)); done; echo "$n"
echo x | { exit 3; }; echo "after $?"
f() { v=changed; cat; }; v=old; echo q | f; echo $v
v=1; echo a | v=2 cat; echo $v
echo a | cat | { read x; echo "<$x>"; y=1; }; echo "[$x$y]"
set -o pipefail; false | true; echo $?; true | false | true; echo $?; set +o pipefail
eval 'echo x | read b; echo "[$b]"; echo y | { q=1; cat; }; echo "[$q]"'
trap 'echo z | read c; echo "bye [$c]"' EXIT
cat > lib.sh <<'L'
echo s | read d; echo "[$d]"
for i in 1 2; do echo $i | while read k; do m=$k; done; done; echo "<$m>"
L
. ./lib.sh
echo b=~/x c=~ --d=~/y e=~/p:~/q f="~/r" 'g=~/s' h=a:~/t i=\~/u j=~"/w" 1k=~/z k+=~/x l=~:~ m=x~/y ~/z "n"=~/o
x=~/v; echo $x; export p=~/a:~/b; echo $p
echo hi | cat <(echo sub) - | tr a-z A-Z
if echo a | grep -q a; then echo yes; fi
echo a | while read x; do break; done; echo ok
( set -e; echo x | { false; true; }; echo never ); echo "st $?"
{ echo o; echo e >&2; } |& sort
i=0; echo $((i++)) | cat; echo $i; echo a | echo $((i++)); echo $i
echo ${zz:=set} | cat; echo "[$zz]"; echo a | echo ${yy:=set}; echo "[$yy]"
q=~/a:~/b:x~:~; echo $q; declare -x z=a:~/c; echo $z
home() { local w=~:~/d; echo $w; }; home
a=(~/x b:~/y); echo "${a[@]}"; case ~/x in ~/x) echo m;; esac
echo ${u:-~/k}; [[ ~ == $HOME ]] && echo t
