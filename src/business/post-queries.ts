import type { Db } from "../db/index.ts";
import type { NetworkPost, NetworkPostBody, Post, PostBody } from "./schema.ts";

interface PostRow {
  id: string;
  business_id: string;
  participant_id: string;
  title: string;
  content: string;
  network_post: string | Record<string, unknown>;
  network_post_id: string;
  metadata: Record<string, unknown> | null;
  created_at: Date;
}

interface NetworkPostRow {
  business_id: string;
  document_id: string;
  content: string;
  url: string | null;
  used: boolean;
  exclude: boolean;
  created_at: Date;
  updated_at: Date;
}

export interface Page {
  limit: number;
  cursor?: string | undefined;
}

const toPost = (row: PostRow): Post => ({
  id: row.id,
  businessId: row.business_id,
  participantId: row.participant_id,
  title: row.title,
  content: row.content,
  networkPost: row.network_post,
  networkPostId: row.network_post_id,
  metadata: row.metadata,
  createdAt: row.created_at.toISOString(),
});

const toNetworkPost = (row: NetworkPostRow): NetworkPost => ({
  businessId: row.business_id,
  documentId: row.document_id,
  content: row.content,
  url: row.url,
  used: row.used,
  exclude: row.exclude,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** Of a statement that always returns a row. */
function only<Row>([row]: Row[]): Row {
  if (row === undefined) throw new Error("the statement returned nothing");
  return row;
}

const orNull = ([row]: NetworkPostRow[]): NetworkPost | null => (row ? toNetworkPost(row) : null);

export async function createPost(db: Db, post: PostBody, now: Date): Promise<Post> {
  const { rows } = await db.query<PostRow>({
    name: "create_business_post",
    text: `insert into business_posts
             (business_id, participant_id, title, content, network_post, network_post_id, metadata, created_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8) returning *`,
    values: [
      post.businessId,
      post.participantId,
      post.title,
      post.content,
      JSON.stringify(post.networkPost),
      post.networkPostId,
      post.metadata && JSON.stringify(post.metadata),
      post.createdAt === undefined ? now : new Date(post.createdAt),
    ],
  });
  return toPost(only(rows));
}

/** Newest first, from the one after the cursor on. */
export async function listPosts(
  db: Db,
  businessId: string,
  { limit, cursor }: Page,
): Promise<Post[]> {
  const { rows } = await db.query<PostRow>({
    name: "list_business_posts",
    text: `select * from business_posts
           where business_id = $1 and ($3::uuid is null
             or (created_at, id) < (select created_at, id from business_posts where business_id = $1 and id = $3))
           order by created_at desc, id desc limit $2`,
    values: [businessId, limit, cursor],
  });
  return rows.map(toPost);
}

/** What is left out stays as it is; of a new one it is the default. */
export async function saveNetworkPost(
  db: Db,
  post: NetworkPostBody,
  now: Date,
): Promise<NetworkPost> {
  const { businessId, documentId, content, url, used, exclude, createdAt } = post;
  const { rows } = await db.query<NetworkPostRow>({
    name: "save_network_post",
    text: `insert into company_network_posts as p (business_id, document_id, content, url, used, exclude, created_at)
           values ($1, $2, $3, $4, coalesce($5::boolean, false), coalesce($6::boolean, false), coalesce($7::timestamptz, $8))
           on conflict (business_id, document_id) do update set content = $3, url = coalesce($4, p.url),
             used = coalesce($5, p.used), exclude = coalesce($6, p.exclude), created_at = coalesce($7, p.created_at),
             updated_at = clock_timestamp()
           returning *`,
    values: [
      businessId,
      documentId,
      content,
      url,
      used,
      exclude,
      createdAt && new Date(createdAt),
      now,
    ],
  });
  return toNetworkPost(only(rows));
}

export async function findNetworkPost(
  db: Db,
  businessId: string,
  documentId: string,
): Promise<NetworkPost | null> {
  const { rows } = await db.query<NetworkPostRow>({
    name: "find_network_post",
    text: "select * from company_network_posts where business_id = $1 and document_id = $2",
    values: [businessId, documentId],
  });
  return orNull(rows);
}

/** Looks only: whoever asks at the same time gets the same one. */
export async function findUnused(db: Db, businessId: string): Promise<NetworkPost | null> {
  const { rows } = await db.query<NetworkPostRow>({
    name: "find_unused_network_post",
    text: `select * from company_network_posts where business_id = $1 and not used and not exclude
           order by created_at, document_id limit 1`,
    values: [businessId],
  });
  return orNull(rows);
}

/** Takes the oldest that nobody else is taking. */
export async function claimUnused(db: Db, businessId: string): Promise<NetworkPost | null> {
  const { rows } = await db.query<NetworkPostRow>({
    name: "claim_network_post",
    text: `with oldest as materialized (
             select document_id from company_network_posts where business_id = $1 and not used and not exclude
             order by created_at, document_id limit 1 for update skip locked)
           update company_network_posts p set used = true, updated_at = clock_timestamp()
           from oldest where p.business_id = $1 and p.document_id = oldest.document_id
           returning p.*`,
    values: [businessId],
  });
  return orNull(rows);
}

export async function markUsed(
  db: Db,
  businessId: string,
  documentId: string,
  used: boolean,
): Promise<NetworkPost | null> {
  const { rows } = await db.query<NetworkPostRow>({
    name: "mark_network_post",
    text: `update company_network_posts set used = $3, updated_at = clock_timestamp()
           where business_id = $1 and document_id = $2 returning *`,
    values: [businessId, documentId, used],
  });
  return orNull(rows);
}

/** Newest first, from the one after the cursor on. */
export async function listNetworkPosts(
  db: Db,
  businessId: string,
  { limit, cursor }: Page,
): Promise<NetworkPost[]> {
  const { rows } = await db.query<NetworkPostRow>({
    name: "list_network_posts",
    text: `select * from company_network_posts
           where business_id = $1 and ($3::text is null or (created_at, document_id) <
             (select created_at, document_id from company_network_posts where business_id = $1 and document_id = $3))
           order by created_at desc, document_id desc limit $2`,
    values: [businessId, limit, cursor],
  });
  return rows.map(toNetworkPost);
}
