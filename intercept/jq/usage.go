package jq

const (
	version            = "jq-1.7.1"
	buildConfiguration = "github.com/itchyny/gojq v0.12.20"

	// hint stands under every complaint about the command line.
	hint = "Use jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://jqlang.github.io/jq\n"

	usage = `jq - JSON processor, in process

Usage:	jq [options] FILTER [FILE...]
	jq [options] -f PROGRAM_FILE [FILE...]
	jq [options] --args FILTER [STRING...]
	jq [options] --jsonargs FILTER [JSON...]

Input:
  -n, --null-input           run the filter once, on null
  -R, --raw-input            every line is a string
  -s, --slurp                all inputs as one array (with -R: one string)
      --stream               inputs as [path, leaf] events
      --stream-errors        the same, and faults as [message, path]
      --seq                  JSON text sequences, in and out

Output:
  -c, --compact-output       one line for each result
  -r, --raw-output           strings as they are
  -j, --join-output          the same, and no newlines
      --raw-output0          the same, and a NUL after each result
  -a, --ascii-output         escape everything outside ASCII
  -S, --sort-keys            objects by the names of their keys
  -C, --color-output         coloured ($JQ_COLORS)
  -M, --monochrome-output    not coloured
      --tab                  indent with tabs
      --indent N             indent with N spaces, up to 7
      --unbuffered           pass on each result at once
  -e, --exit-status          1 when the last result is false or null, 4 when there is none

Program:
  -f, --from-file            the first word that is no option names a file with the filter
  -L DIRECTORY               look for modules there
      --arg NAME VALUE       set $NAME to a string
      --argjson NAME JSON    set $NAME to a JSON value
      --slurpfile NAME FILE  set $NAME to an array of the file's values
      --rawfile NAME FILE    set $NAME to the file's text
      --args                 the words that follow are strings in $ARGS.positional
      --jsonargs             the words that follow are JSON in $ARGS.positional
      --                     no options after this

  -h, --help                 this text
  -V, --version              the version of jq that this follows
      --build-configuration  what it is made of
`
)
