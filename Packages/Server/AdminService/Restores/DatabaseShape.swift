import PostgresClient

/// The properties of a database that a backup doesn't include: owner, encoding, connection rights and settings. The
/// replacement database gets the same.
struct DatabaseShape: Sendable {
    private struct Grant: Sendable {
        /// Nil for everybody.
        let role: String?
        let privilege: String
        let isGrantable: Bool
    }

    private struct Setting: Sendable {
        /// Nil for all roles.
        let role: String?
        let name: String
        let value: String
    }

    let owner: String
    private let options: String
    /// Nil if the rights were never changed.
    private let grants: [Grant]?
    private let settings: [Setting]
    private let comment: String?

    /// Reads the properties, on a connection to another database.
    /// - Throws: ``BackupFailure`` if there is no such database.
    init(of database: String, _ connection: PostgresConnection) async throws {
        // The catalog's columns differ between PostgreSQL versions.
        let found = try await connection.query(
            """
            SELECT pg_get_userbyid(d.datdba)::text, pg_encoding_to_char(d.encoding)::text, d.datcollate::text,
                d.datctype::text, to_jsonb(d) ->> 'datlocprovider',
                coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale'), nullif(t.spcname::text, 'pg_default'),
                d.datconnlimit, d.datacl IS NOT NULL, shobj_description(d.oid, 'pg_database'),
                to_jsonb(d) ->> 'daticurules'
            FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace WHERE d.datname = $1
            """, [.text(database)])
        guard let row = found.first else {
            throw BackupFailure(
                "\(RestoreSettings.databaseVariable) points to a cluster without a database \(database): name the "
                    + "cluster that the servers use.")
        }
        owner = try row[0].string
        func literal(_ index: Int) throws -> String { PostgresSQL.quoteLiteral(try row[index].string) }
        var options = [
            "ENCODING \(try literal(1))", "LC_COLLATE \(try literal(2))", "LC_CTYPE \(try literal(3))",
            "CONNECTION LIMIT \(try row[7].int64)",
        ]
        // Naming even the default tablespace requires a right on it.
        if let tablespace = try row[6].nonNull?.string {
            options.append("TABLESPACE \(PostgresSQL.quoteIdentifier(tablespace))")
        }
        switch (try row[4].nonNull?.string, try row[5].nonNull?.string) {
        case ("c", _): options.append("LOCALE_PROVIDER libc")
        case ("i", let locale?):
            options.append("LOCALE_PROVIDER icu ICU_LOCALE \(PostgresSQL.quoteLiteral(locale))")
            if let rules = try row[10].nonNull?.string {
                options.append("ICU_RULES \(PostgresSQL.quoteLiteral(rules))")
            }
        case ("b", let locale?):
            options.append("LOCALE_PROVIDER builtin BUILTIN_LOCALE \(PostgresSQL.quoteLiteral(locale))")
        default: break
        }
        self.options = options.joined(separator: " ")
        comment = try row[9].nonNull?.string
        grants = try row[8].bool ? await Self.grants(database, connection) : nil
        settings = try await Self.settings(database, connection)
    }

    private static func grants(_ database: String, _ connection: PostgresConnection) async throws -> [Grant] {
        try await connection.query(
            """
            SELECT CASE WHEN a.grantee <> 0 THEN pg_get_userbyid(a.grantee)::text END, a.privilege_type, a.is_grantable
            FROM pg_database d, aclexplode(d.datacl) a WHERE d.datname = $1
            """, [.text(database)]
        ).map { row in
            Grant(
                role: try row[0].nonNull?.string, privilege: try row[1].string, isGrantable: try row[2].bool)
        }
    }

    private static func settings(_ database: String, _ connection: PostgresConnection) async throws -> [Setting] {
        try await connection.query(
            """
            SELECT CASE WHEN s.setrole <> 0 THEN pg_get_userbyid(s.setrole)::text END, split_part(c, '=', 1),
                substr(c, strpos(c, '=') + 1)
            FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) c
            WHERE d.datname = $1
            """, [.text(database)]
        ).map { row in
            Setting(role: try row[0].nonNull?.string, name: try row[1].string, value: try row[2].string)
        }
    }

    /// Creates an empty database with these properties. Only its owner may connect until ``grant(_:_:)``.
    func create(_ database: String, _ connection: PostgresConnection) async throws {
        let name = PostgresSQL.quoteIdentifier(database)
        try await connection.execute(
            "CREATE DATABASE \(name) OWNER \(PostgresSQL.quoteIdentifier(owner)) TEMPLATE template0 \(options)")
        try await connection.execute("REVOKE ALL ON DATABASE \(name) FROM PUBLIC")
        if let comment {
            try await connection.execute("COMMENT ON DATABASE \(name) IS \(PostgresSQL.quoteLiteral(comment))")
        }
        for setting in settings { try await copy(setting, to: name, connection) }
    }

    /// Gives others the same rights to connect as on the original database.
    func grant(_ database: String, _ connection: PostgresConnection) async throws {
        let name = PostgresSQL.quoteIdentifier(database)
        guard let grants else {
            // The rights that PostgreSQL gives everybody on a new database.
            try await connection.execute("GRANT CONNECT, TEMPORARY ON DATABASE \(name) TO PUBLIC")
            return
        }
        let ownerName = PostgresSQL.quoteIdentifier(owner)
        try await connection.execute("REVOKE ALL ON DATABASE \(name) FROM PUBLIC, \(ownerName)")
        for grant in grants {
            let role = grant.role.map { PostgresSQL.quoteIdentifier($0) } ?? "PUBLIC"
            try await connection.execute(
                "GRANT \(grant.privilege) ON DATABASE \(name) TO \(role)\(grant.isGrantable ? " WITH GRANT OPTION" : "")"
            )
        }
    }

    /// Copies a setting by way of a transaction-local value, so that no value needs quoting: list values have their
    /// own quoting rules. The session's own settings don't change, and `default_transaction_read_only` doesn't affect
    /// a transaction that has already begun.
    private func copy(_ setting: Setting, to name: String, _ connection: PostgresConnection) async throws {
        let parameter = setting.name.split(separator: ".").map { PostgresSQL.quoteIdentifier(String($0)) }
            .joined(separator: ".")
        let target =
            setting.role.map { "ROLE \(PostgresSQL.quoteIdentifier($0)) IN DATABASE \(name)" } ?? "DATABASE \(name)"
        do {
            try await connection.transaction { connection in
                try await connection.query(
                    "SELECT set_config($1, $2, true)", [.text(setting.name), .text(setting.value)])
                try await connection.execute("ALTER \(target) SET \(parameter) FROM CURRENT")
            }
        } catch let error as PostgresError {
            let whose = setting.role.map { " of \($0)" } ?? ""
            throw BackupFailure(
                "The setting \(setting.name)\(whose) in this database can't be copied to the restored one: \(error.message). "
                    + "Let a superuser restore it: see docs/backups.md.")
        }
    }
}
