/// Functions by which a transaction tells the audit log who makes its changes.
extension SystemFunction {
    static let author = SystemFunction(
        name: "name_author", parameters: "p_kind text, p_user text, p_address text, p_route text", result: "void",
        settings: auditSettings,
        body: naming(
            """
            -- Says for the audit log who makes the changes of this transaction. Says nothing if it made none.
            """,
            """
            jsonb_strip_nulls(jsonb_build_object('kind', left(p_kind, \(AuditSchema.authorByteCount)),
                        'user', left(p_user, \(AuditSchema.authorByteCount)),
                        'address', left(p_address, \(AuditSchema.authorByteCount)),
                        'route', left(p_route, \(AuditSchema.authorByteCount))))
            """))

    static let authors = SystemFunction(
        name: "name_authors", parameters: "p_kind text, p_users jsonb, p_route text", result: "void",
        settings: auditSettings,
        body: naming(
            """
            -- The same for a transaction that several users share, such as moves of tickets: p_users has by the key of an
            -- object who changes it, as {"KEY": {"user": …, "address": …}}.
            """,
            """
            jsonb_build_object('kind', left(p_kind, \(AuditSchema.authorByteCount)),
                        'route', left(p_route, \(AuditSchema.authorByteCount)),
                        'users', (SELECT coalesce(jsonb_object_agg(left(u.key, \(AuditSchema.authorByteCount)),
                            jsonb_strip_nulls(jsonb_build_object(
                                'user', left(u.value ->> 'user', \(AuditSchema.authorByteCount)),
                                'address', left(u.value ->> 'address', \(AuditSchema.authorByteCount))))), '{}')
                            FROM (SELECT * FROM jsonb_each(p_users) LIMIT \(AuditSchema.authorCount)) AS u))
            """))

    /// The body of a function that writes the entry naming the authors, unless the transaction made no changes.
    /// - Parameter marks: the entry's marks, a jsonb expression, indented as it appears in the function.
    private static func naming(_ comment: String, _ marks: String) -> String {
        """

        \(comment)
        BEGIN
            IF pg_current_xact_id_if_assigned() IS NULL OR NOT EXISTS (
                SELECT FROM tombolo.changelog c WHERE c.xid = pg_current_xact_id()) THEN
                RETURN;
            END IF;
            INSERT INTO tombolo.changelog (class, key, operation, stamp, marks)
            VALUES (\(SchemaIdentifiers.authorClass), pg_current_xact_id()::text, 'c',
                (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
                \(marks)::text);
        END
        """
    }
}
