import { BlockList, isIP } from "node:net";

/**
 * IANA's special-purpose registries, whole: what they call reachable (relays, AS112) hosts no files either. IPv6 needs
 * only what lies inside 2000::/3, since nothing outside it is public: neither mapped nor translated IPv4, nor ::1.
 */
const specialRanges = [
  ["0.0.0.0", 8, "this network"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "shared by a carrier's customers"],
  ["127.0.0.0", 8, "loopback"],
  ["168.63.129.16", 32, "a cloud's inside, in spite of its range"],
  ["169.254.0.0", 16, "link-local, and the metadata of most clouds"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "protocol assignments"],
  ["192.0.2.0", 24, "documentation"],
  ["192.31.196.0", 24, "AS112"],
  ["192.52.193.0", 24, "multicast relays"],
  ["192.88.99.0", 24, "6to4 relays"],
  ["192.168.0.0", 16, "private"],
  ["192.175.48.0", 24, "AS112"],
  ["198.18.0.0", 15, "benchmarks"],
  ["198.51.100.0", 24, "documentation"],
  ["203.0.113.0", 24, "documentation"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved, and broadcast"],
  ["2001::", 23, "protocol assignments: Teredo, benchmarks, ORCHID, drone identifiers"],
  ["2001:db8::", 32, "documentation"],
  ["2002::", 16, "6to4"],
  ["2620:4f:8000::", 48, "AS112"],
  ["3fff::", 20, "documentation"],
] as const;

const family = (ip: string): "ipv4" | "ipv6" => (isIP(ip) === 4 ? "ipv4" : "ipv6");

const special = new BlockList();
for (const [network, bits] of specialRanges) special.addSubnet(network, bits, family(network));

const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** Whether an address is one of the open internet; what is no address is not. */
export function isPublicAddress(ip: string): boolean {
  const isUnicast = isIP(ip) === 4 || (isIP(ip) === 6 && globalUnicast.check(ip, "ipv6"));
  return isUnicast && !special.check(ip, family(ip));
}
