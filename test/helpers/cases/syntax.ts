import { lines, words } from "./lists.ts";

/** Near to JSON, or near to what some parser somewhere would take for it. */
export const brokenJson: readonly string[] = [
  ...words(String.raw`
    { } [ ] " : , {,} [,] {{}} [[] [{]} {a:1} {'a':1} {"a"} {"a":} {"a"::1} {"a":1,} [1,] {"a":1;"b":2} {"a":'x'}
    {"a":[1,2} {"a":{"b":1]} {}{} {},{} [][] {}x x{} {}// {"a":1/*x*/} {"$ref":} "a 'a' - + . e5
    {"a":undefined} {"a":NaN} {"a":Infinity} {"a":-Infinity} {"a":tru} {"a":True} {"a":nul} {"a":None}
    {"a":+1} {"a":01} {"a":1.} {"a":.5} {"a":1e} {"a":1e+} {"a":0x1} {"a":1_000} {"a":1n} {"a":--1}
    {"a":"\x41"} {"a":"\u12"} {"a":"\u{41}"} {"a":"\U00000041"} {"a":"\'"} {"a":"\"}
    tru nul undefined NaN Infinity <a/> name=x while(1);{}`),
  ...lines(String.raw`
    {"a" 1}
    {"a":1 "b":2}
    {"a":"\u 0041"}
    {} {}
    {}/* */
    /* */{}
    # {}
    1 2
    name: x`),
  " ",
  " \t\r\n ",
  '{"a":"line\nbreak"}',
  '{"a":"tab\tinside"}',
  '{"a":"\u0001"}',
  '{"a":"\u001f"}',
  '{"a":1}\n{"a":2}',
  "---\nname: x",
  ")]}'\n{}",
  "{}\0",
  "\0{}",
  "{}\u00a0",
  "\u2028{}",
];

/** JSON, but no object. */
export const scalars: readonly string[] = words(`
  true false 0 -0 1.5 1e400 -1e400 9007199254740993 "x" "" "{}" [] [{}] ["name"] [["name","x"]] [null]`);
