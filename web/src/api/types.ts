// The types of /v1, as they are generated from the server's own description.
export type * from "../../../api/v1";
