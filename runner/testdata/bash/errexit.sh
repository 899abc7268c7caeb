( set -e; x=$(false; echo hi); echo "1 [$x]" )
( set -e; if (false; echo a); then echo 2; fi; echo 2e )
( set -e; (false; echo a) || echo sub; echo 3 )
( set -e; if echo x | { false; cat; }; then echo 4; fi; echo 4e )
( set -e; echo x | { grep -q y; echo after; } || echo 5; echo 5e )
( set -e; ! (false; echo b); echo 6 )
( set -e; while (false; echo c; false); do :; done; echo 7 )
( set -e; f() { false; echo in; }; if f; then echo 8; fi; f && echo 8b; echo 8e )
( set -e; f() { false; echo in; }; echo x | f; echo never ) ; echo "9 $?"
( set -e; y=$(f2() { false; echo deep; }; f2); echo "10 $y" )
( set -e; echo "$(false; echo q)"; echo 11 )
f() { false; return; }; f; echo "12 $?"; g() { true; return; }; g; echo $?
( set -e; local_=$(exit 3) ; echo never ); echo "13 $?"
( set -e; echo a | (false; echo b) | cat; echo 14 )
