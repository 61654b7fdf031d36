public import TomboloMigration

extension Conference {
    /// The role of `ticket-api`, which shows events, moves tickets and logs people in.
    public static let ticketRole = DatabaseRole(
        name: "tickets", program: "ticket-api",
        rights: [
            DatabaseRight(.classTables("Event"), .select, for: "the public page"),
            DatabaseRight(.classTables("Microlocation"), .select, for: "the public page"),
            DatabaseRight(.classTables("RoleAssignment"), .select, for: "the roles of users"),
            DatabaseRight(.classTables("Session"), .select, for: "the public page, and the programme"),
            DatabaseRight(.classTables("Speaker"), .select, for: "the public page"),
            DatabaseRight(.classTables("Ticket"), .select, .update("rank"), for: "showing and moving tickets"),
            DatabaseRight(.classTables("Track"), .select, for: "the public page"),
            DatabaseRight(
                .table("changelog"), .select("seq", "xid", "class", "key", "root", "keys"),
                for: "which rows changed, never their values: when to drop anonymous visitors' cached answers"),
            DatabaseRight(
                .function("name_authors(text, jsonb, text)"), .execute,
                for: "the audit log: who moves which ticket in a shared transaction"),
            DatabaseRight(.table("class"), .select("id", "name"), for: "the classes of changed rows"),
            DatabaseRight(.table("tick"), .select("number", "first_seq"), for: "which changes are old"),
        ] + DatabaseRole.loginRights)
}
