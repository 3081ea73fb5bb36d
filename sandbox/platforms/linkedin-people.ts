/** Somebody with a LinkedIn account in the sandbox. The ids are part of the sandbox: they never change. */
export interface Member {
  id: string;
  firstName: string;
  lastName: string;
  headline: string;
  vanityName: string;
  email: string;
}

export const members: readonly Member[] = [
  {
    id: "Ada1815_Lv",
    firstName: "Ada",
    lastName: "Lovelace",
    headline: "Programs for engines that do not exist yet",
    vanityName: "ada-lovelace",
    email: "ada@example.com",
  },
  {
    id: "Grace1906H",
    firstName: "Grace",
    lastName: "Hopper",
    headline: "Compilers, and nanoseconds by the foot",
    vanityName: "grace-hopper",
    email: "grace@example.com",
  },
  {
    id: "Alan1912_T",
    firstName: "Alan",
    lastName: "Turing",
    headline: "Machines, computable and otherwise",
    vanityName: "alan-turing",
    email: "alan@example.com",
  },
  {
    id: "Kath1918_J",
    firstName: "Katherine",
    lastName: "Johnson",
    headline: "Trajectories, checked by hand",
    vanityName: "katherine-johnson",
    email: "katherine@example.com",
  },
];

const byId = new Map(members.map((member) => [member.id, member]));

export function memberOf(id: string): Member | undefined {
  return byId.get(id);
}

export function fullName({ firstName, lastName }: Member): string {
  return `${firstName} ${lastName}`;
}

export function initials({ firstName, lastName }: Member): string {
  return firstName.slice(0, 1) + lastName.slice(0, 1);
}

export function personUrn(id: string): string {
  return `urn:li:person:${id}`;
}
