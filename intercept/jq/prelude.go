package jq

// prelude defines the functions of jq that go through objects, or that change
// or build them, anew: gojq's own go by the names of the keys and not by their
// order. It also has what jq 1.7 has and gojq has not. The names that begin
// with _o_ are defined in Go, or stand for operators (see rewrite).
const prelude = `
def _o_each: if _o_object then _o_keys as $k | .[$k] else .[] end;
def _o_add_all(f): reduce f as $x (null; _o_add(.; $x));

def _o_assign(p; $v): reduce path(p) as $p (_o_edit; _o_put($p; $v)) | _o_done;
def _o_modify(p; f):
  reduce path(p) as $p (_o_edit;
    . as $e
    | label $out
    | (($e | _o_get($p) | f) as $v | $e | _o_put($p; $v) | ., break $out), ($e | _o_drop($p)))
  | _o_done;
def _o_update_add(p; $x): _o_modify(p; _o_add(.; $x));
def _o_update_sub(p; $x): _o_modify(p; _o_sub(.; $x));
def _o_update_mul(p; $x): _o_modify(p; _o_mul(.; $x));
def _o_update_div(p; $x): _o_modify(p; _o_div(.; $x));
def _o_update_mod(p; $x): _o_modify(p; . % $x);
def _o_update_alt(p; $x): _o_modify(p; . // $x);
def _o_getpath($p): getpath($p);
def getpath($p): _o_check_path($p) | _o_getpath($p);
def setpath($p; $v): _o_setpath($p; $v);
def delpaths($ps): _o_delpaths($ps);
def del(f): _o_delpaths([path(f)]);
def map(f): [_o_each | f];
def map_values(f): _o_modify(_o_each; f);
def pick(f): . as $top | reduce path(f) as $p (null; _o_setpath($p; $top | getpath($p)));

def recurse: def r: ., (_o_each? | r); r;
def paths: path(recurse) | select(. != []);
def paths(f): path(recurse | select(f)) | select(. != []);
def leaf_paths: paths(type | . != "array" and . != "object");
def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;
def tostream:
  path(def r: (_o_each? | r), .; r) as $p
  | getpath($p)
  | reduce path(_o_each?) as $q ([$p, .]; [$p + $q]);
def fromstream(f): foreach f as $i (_o_stream; _o_add_step($i); _o_built);

def keys_unsorted: [_o_keys];
def to_entries: [_o_keys as $k | {key: $k, value: .[$k]}];
def from_entries: _o_from_entries;
def with_entries(f): to_entries | map(f) | _o_from_entries;
def add: _o_sum;
def add(f): _o_add_all(f);
def all: all(_o_each; .);
def all(f): all(_o_each; f);
def any: any(_o_each; .);
def any(f): any(_o_each; f);
def _o_flatten($n): flatten($n);
def flatten: _o_passable | _o_list | _o_flatten(infinite);
def flatten($n): _o_passable | _o_list | _o_flatten($n);
def _o_join($s): join($s);
def join($s): _o_list | _o_joinable($s) | _o_join($s);
def _o_transpose: transpose;
def transpose: _o_transposable | _o_transpose;
def _o_explode: explode;
def explode: _o_splittable | _o_explode;
def split($s): _o_split($s);
def _o_sort: sort;
def sort: _o_passable | _o_sort;
def _o_keyed(f): map([f] | _o_passable);
def sort_by(f): _sort_by(_o_keyed(f));
def group_by(f): _group_by(_o_keyed(f));
def unique_by(f): _unique_by(_o_keyed(f));
def min_by(f): _min_by(_o_keyed(f));
def max_by(f): _max_by(_o_keyed(f));
def _o_unique: unique;
def unique: _o_passable | _o_unique;
def _o_min: min;
def min: _o_passable | _o_min;
def _o_max: max;
def max: _o_passable | _o_max;
def _o_indices($x): indices($x);
def indices($x): if type == "null" then null elif type == "array" or type == "string" then _o_places($x) else _o_indices($x) end;
def index($x): indices($x) | .[0];
def rindex($x): indices($x) | .[-1:][0];
def contains($x): _o_contains($x);
def inside($x): . as $v | $x | contains($v);
def IN(s): any(_o_eq(s; .); .);
def IN(src; s): any(_o_eq(src; s); .);
def INDEX(stream; f): reduce stream as $row ({} | _o_edit; _o_put([$row | f | _o_tostring]; $row)) | _o_done;
def INDEX(f): INDEX(_o_each; f);
def JOIN($idx; f): [_o_each | [., $idx[f]]];
def match($re; $flags): _o_match($re; $flags) | .[];
def match($re): _o_pattern($re) as [$re, $flags] | match($re; $flags);
def test($re; $flags): _o_test($re; $flags);
def test($re): _o_pattern($re) as [$re, $flags] | test($re; $flags);
def capture($re; $flags): match($re; $flags) | _o_captures;
def capture($re): match($re) | _o_captures;
def scan($re; $flags): match($re; $flags + "g") | if .captures == [] then .string else [.captures[].string] end;
def scan($re): scan($re; null);
def split($re; $flags): _o_pieces($re; $flags + "g");
def splits($re; $flags): split($re; $flags) | .[];
def splits($re): splits($re; null);
def sub($re; f; $flags):
  _o_substitution($re; $flags) as $s
  | reduce ($s | _o_spots) as $groups ($s; . as $s | reduce ($groups | f) as $text ($s; _o_replace($text)))
  | _o_substituted
  | .[];
def sub($re; f): sub($re; f; null);
def gsub($re; f; $flags): sub($re; f; $flags + "g");
def gsub($re; f): sub($re; f; "g");

def tojson: _o_tojson;
def tostring: _o_tostring;
def fromjson: _o_fromjson;
def tonumber: _o_tonumber;
def _o_format($f): format($f);
def format($f):
  if $f == "json" then _o_tojson
  elif $f == "text" then _o_tostring
  elif $f == "html" then _o_tostring | _o_html
  elif $f == "base32" then _o_tostring | _o_base32
  elif $f == "base32d" then _o_tostring | _o_base32d
  elif $f == "csv" or $f == "tsv" or $f == "sh" then _o_short | _o_format($f)
  else _o_tostring | _o_format($f) end;

def input: _o_input;
def inputs: _o_inputs;
def env: $ENV;
def debug(f): (f | debug | empty), .;
def limit($n; f):
  if $n > 0 then label $out | foreach f as $x (0; . + 1; $x, if . >= $n then break $out else empty end)
  elif $n == 0 then empty
  else f end;
def scalars_or_empty: scalars;
def _o_ltrimstr($s): ltrimstr($s);
def _o_rtrimstr($s): rtrimstr($s);
def ltrimstr($s): if type == "string" and ($s | type) == "string" then _o_ltrimstr($s) else . end;
def rtrimstr($s): if type == "string" and ($s | type) == "string" then _o_rtrimstr($s) else . end;
def toarray: if type == "array" then . else [.] end;
def pow10: exp10;
def gamma: lgamma;
def _o_reverse: reverse;
def reverse: if . == null or . == {} then [] else _o_reverse end;
def get_jq_origin: null;
def get_prog_origin: ".";
def have_literal_numbers: true;
def have_decnum: true;
`

// shapes are the orders of the objects that the prelude and gojq make.
var shapes = [][]string{
	{"key", "value"},
	matchKeys,
	captureKeys,
	{"start", "end"},
	{"file", "line"},
	{"positional", "named"},
}
