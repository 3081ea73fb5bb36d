import { lines } from "./lists.ts";

// Texts that mean something to a database, a shell, a page, a log or a spreadsheet, and must mean nothing here.
export const tellingStrings: readonly string[] = [
  ...lines(String.raw`
    ' or '1'='1
    '; drop table api_keys; --
    \'; select pg_sleep(5)--
    $1
    $$
    %s%n
    {{7*7}}
    #{7*7}
    <%= 1 %>
    <script>alert(1)</script>
    <img src=x onerror=alert(1)>
    javascript:alert(1)
    &lt;b&gt;
    ]]>
    <!--
    */
    \\host\share
    ..\..\x
    ../../etc/passwd
    /dev/null
    =1+1
    @SUM(A1)
    =cmd()
    $(id)
    ; id
    && id
    > /dev/null
    CON
    null
    undefined
    NaN
    true
    -0
    1e400
    [object Object]
    []
    {}
    __proto__
    constructor
    toString`),
  "`id`",
  "\u0024{7*7}",
  "\n",
  '\r\n{"level":60}',
  "\t",
  " ",
  "\u00a0",
  "\u0001",
  "\u001b[31mred",
  "\u007f",
  "\u0085",
  "\u200b",
  "\u200d",
  "\u2028",
  "\u202eevil",
  "\u2066\u2069",
  "\ufeff",
  "\ufffd",
  "\ufffe",
  "\uffff",
  "\u{10ffff}",
  "e\u0301",
  "\u00e9",
  "\u0130\u0131",
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "\u{1f600}".repeat(100),
  "Z\u0351\u036b\u0343\u036a",
  "\u0645\u0631\u062d\u0628\u0627",
  "x".repeat(100),
];
