/// Functions that fill the audit log. They run as its owner, so no other role needs the right to write it.
extension SystemFunction {
    /// What the ``audit`` functions return when there is nothing to count.
    enum AuditAnswer {
        /// Everything is copied.
        static let idle: Int64 = -1
        /// Another session is copying, or a different step has to come first.
        static let busy: Int64 = -2
    }

    static let auditSettings = " SET enable_seqscan = off SET jit = off SET timezone = 'UTC'"

    static let audit: [SystemFunction] = [author, authors, writer, month, copy, baseline, expire, differences]

    /// A condition for changelog rows after the tick `v_base`, up to the tick `v_goal`.
    static func isUnlogged(_ row: String) -> String {
        """
        \(row).seq > greatest(v_base.first_seq, coalesce(v_position.after_seq, -1)) \
        AND (\(row).xid >= pg_snapshot_xmax(v_base.snapshot) OR \(row).xid = ANY (v_running)) \
        AND pg_visible_in_snapshot(\(row).xid, v_goal.snapshot) \
        AND \(row).class NOT IN (\(SchemaIdentifiers.progressClass), \(SchemaIdentifiers.authorClass))
        """
    }

    /// A changelog row's old values, by column number.
    static func loggedBefore(_ row: String) -> String {
        """
        (SELECT jsonb_object_agg(u.id::text, u.value) FROM unnest(\(row).columns, \(row).old) AS u (id, value) \
        WHERE u.id IS NOT NULL)
        """
    }

    /// SQL for the secret columns of a class; NULL if it has none.
    static func secretColumns(_ classID: String) -> String {
        "(SELECT array_agg(s.id::text) FROM tombolo.class_column s WHERE s.class = \(classID) AND s.is_secret)"
    }
}
