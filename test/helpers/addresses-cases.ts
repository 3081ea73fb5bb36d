/** One of each kind of address that is not of the open internet, and the edges of its range. */
export const insideV4 = [
  ..."0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255".split(
    " ",
  ),
  ..."127.0.0.1 127.1.2.3 127.255.255.254 168.63.129.16 169.254.169.254 169.254.170.2".split(" "),
  ..."172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1 192.168.0.1".split(
    " ",
  ),
  ..."198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.251 240.0.0.1".split(" "),
  "255.255.255.255",
];

export const insideV6 = [
  ...":: ::1 0:0:0:0:0:0:0:1 0000::0001 ::7f00:1 ::127.0.0.1 ::ffff:0:127.0.0.1".split(" "),
  ..."::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:FFFF:7F00:0001 ::ffff:8.8.8.8".split(" "),
  ..."64:ff9b::127.0.0.1 64:ff9b::808:808 64:ff9b:1::a00:1 100::1 100:0:0:1::1".split(" "),
  ..."2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1".split(" "),
  ..."2001:30::1 2001:1ff:ffff::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 3fff::1".split(" "),
  ..."3fff:fff::1 2620:4f:8000::1 4000::1 5f00::1 1fff:ffff::1 fc00::1 fd00:ec2::254".split(" "),
  ..."fd20:ce::254 fdff::1 fe80::1 febf::1 fec0::1 feff::1 ff02::1 ff0e::1".split(" "),
];

/** The edges of what is forbidden, from outside. */
export const outsideAddresses = [
  ..."1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.215.14 100.63.255.255 100.128.0.0".split(" "),
  ..."126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0".split(" "),
  ..."172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.167.255.255".split(" "),
  ..."192.169.0.0 198.17.255.255 198.20.0.0 198.51.101.0 203.0.112.255 203.0.114.0".split(" "),
  ..."223.255.255.255 2000::1 2001:200::1 2001:4860:4860::8888 2001:db7::1 2001:db9::1".split(" "),
  ..."2003::1 2606:4700::1111 2620:4f:8001::1 2a00:1450::1 3ffe:ffff::1 3fff:1000::1".split(" "),
];

const octets = (ip: string): number[] => ip.split(".").map(Number);
const asNumber = (ip: string): number => octets(ip).reduce((sum, octet) => sum * 256 + octet, 0);
const hex = (value: number): string => `0x${value.toString(16)}`;
const octal = (value: number): string => `0${value.toString(8)}`;
const shift = (ip: string, zero: string, first: number): string =>
  ip.replace(/\d/g, (digit) =>
    digit === "0" ? zero : String.fromCodePoint(first + Number(digit) - 1),
  );

/** Ways to write an IPv4 address, all of which `new URL` takes for it. */
export const spellings: ((ip: string) => string)[] = [
  (ip) => `http://${ip}/`,
  (ip) => `https://${ip}/`,
  (ip) => `http://${ip}./`,
  (ip) => `http://${asNumber(ip)}/`,
  (ip) => `http://${hex(asNumber(ip))}/`,
  (ip) => `http://${hex(asNumber(ip)).toUpperCase()}/`,
  (ip) => `http://${octal(asNumber(ip))}/`,
  (ip) => `http://${octets(ip).map(hex).join(".")}/`,
  (ip) => `http://${octets(ip).map(octal).join(".")}/`,
  (ip) =>
    `http://${octets(ip)
      .map((octet) => `000${octal(octet)}`)
      .join(".")}/`,
  (ip) => `http://${octets(ip).slice(0, 2).join(".")}.${asNumber(ip) % 65_536}/`,
  (ip) => `http://${octets(ip)[0]}.${asNumber(ip) % 16_777_216}/`,
  (ip) => `http://${hex(octets(ip)[0] ?? 0)}.${octal(asNumber(ip) % 16_777_216)}/`,
  (ip) => `http://${shift(ip, "\uFF10", 0xff11)}/`,
  (ip) => `http://${shift(ip, "\u24EA", 0x2460)}/`,
  (ip) => `http://${ip.replaceAll(".", "\u3002")}/`,
  (ip) => `http://${ip.replaceAll(".", "%2e")}/`,
  (ip) => `http://${ip.replace(/^\d/, (digit) => `%3${digit}`)}/`,
  (ip) => `http://${ip.replace(".", "\t.")}/`,
  (ip) => `ht\ntp://${ip.replace(".", ".\r\n")}/`,
  (ip) => `http://${ip.replace(".", "\u00AD.")}/`,
  (ip) => `http:${ip}/`,
  (ip) => `http:\\\\${ip}\\`,
  (ip) => `  HTTP:////${ip}/ `,
  (ip) => `http://${ip}:8080/`,
  (ip) => `http://${ip}:0000443/`,
  (ip) => `http://${ip}#@files.example/`,
  (ip) => `http://${ip}?@files.example/`,
  (ip) => `http://${ip}\\@files.example/`,
  (ip) => `http://files.example@${ip}/`,
  (ip) => `http://files.example:80@${ip}/`,
];

/** Names of the machine itself; the resolver says so, as that of a machine does. */
export const localNames = [
  ..."localhost LOCALHOST localhost. loc%61lhost a.localhost localhost.localdomain".split(" "),
  ..."ip6-localhost 127.0.0.1.nip.example metadata.internal".split(" "),
  "\u24DB\u24DE\u24D2\u24D0\u24DB\u24D7\u24DE\u24E2\u24E3",
  "\uFF4C\uFF4F\uFF43\uFF41\uFF4C\uFF48\uFF4F\uFF53\uFF54",
  "local\thost",
  "local\nhost",
];

export const forbiddenPorts = [
  1, 21, 22, 25, 81, 111, 445, 2375, 3306, 5432, 6379, 9200, 11211, 65535,
];

export const otherSchemes = [
  ..."file:///etc/hostname gopher://files.example/ ftp://files.example/ ws://files.example/".split(
    " ",
  ),
  ..."data:,a javascript:1 blob:http://files.example/a about:blank dict://files.example/".split(
    " ",
  ),
  ..."ldap://files.example/ jar:http://files.example/ mailto:a@files.example unix:/run/a".split(
    " ",
  ),
];
