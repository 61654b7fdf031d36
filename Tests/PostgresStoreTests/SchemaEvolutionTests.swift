import Foundation
import PostgresClient
import RandomValues
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore

@Suite("Tables follow models that change", .serialized)
struct SchemaEvolutionTests {
    private func withConnection(_ body: (PostgresConnection) async throws -> Void) async throws {
        let connection = try await PostgresConnection.connect(try await TestCluster.shared().createDatabase())
        try await body(connection)
        await connection.close()
    }

    private static let key = ModelProperty(name: "_id", type: .string, isPrimaryKey: true)

    private func document(_ classes: ModelClass...) throws -> ModelDocument {
        try ModelDocument(app: "a", classes: classes)
    }

    private func item(
        _ name: String, _ properties: [ModelProperty], table: String? = nil, previous: [String] = [],
        unique: [[String]] = [], isTrashable: Bool = false
    ) -> ModelClass {
        ModelClass(
            name: name, table: table ?? Column.sqlName(for: name), properties: [Self.key] + properties,
            uniqueProperties: unique, isTrashable: isTrashable, previousNames: previous)
    }

    /// Plans the steps, applies them twice (every step is idempotent), and expects nothing left to do.
    @discardableResult
    private func bring(_ connection: PostgresConnection, to document: ModelDocument) async throws -> [String] {
        let schema = try document.schema()
        let difference = PostgresSchema.difference(from: try await PostgresCatalog.read(connection), to: schema)
        #expect(difference.problems == [])
        for step in difference.steps { try await connection.execute(step.sql) }
        for step in difference.steps { try await connection.execute(step.sql) }
        let rest = PostgresSchema.difference(from: try await PostgresCatalog.read(connection), to: schema)
        #expect(rest.steps.map(\.name) == [])
        #expect(rest.problems == [])
        return difference.steps.map(\.name)
    }

    private func problems(_ connection: PostgresConnection, _ document: ModelDocument) async throws -> [String] {
        PostgresSchema.difference(from: try await PostgresCatalog.read(connection), to: try document.schema()).problems
    }

    /// Everything in `public` that has a name or a definition.
    private func shape(_ connection: PostgresConnection) async throws -> [String] {
        let query = """
            SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' ||
                a.attnotnull || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE c.relkind = 'r'
            UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
            UNION ALL SELECT 'constraint ' || c.conrelid::regclass || ' ' || pg_get_constraintdef(c.oid) FROM pg_constraint c
            JOIN pg_namespace n ON n.oid = c.connamespace AND n.nspname = 'public' WHERE c.contype <> 'n'
            UNION ALL SELECT 'trigger ' || tgrelid::regclass || ' ' || tgname FROM pg_trigger t
            JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
            WHERE NOT tgisinternal
            UNION ALL SELECT 'policy ' || tablename || ' ' || policyname FROM pg_policies WHERE schemaname = 'public'
            """
        // Primary keys keep their index's name, which nothing depends on.
        return try await connection.query(query).map { try $0[0].string }.filter { !$0.contains("_pkey") }.sorted()
    }

    @Test("A renamed property keeps its column, its values, its number and its index")
    func property() async throws {
        try await withConnection { connection in
            let before = ModelProperty(name: "cost", type: .int(bits: 64), isIndexed: true)
            let first = try document(item("Thing", [before, ModelProperty(name: "note", type: .string)]))
            try await bring(connection, to: first)
            try await connection.execute("INSERT INTO thing (_id, cost, note) VALUES ('a', 7, 'x')")
            let number = try await PostgresCatalog.read(connection).identifiers.columns["Thing"]?["cost"]
            let after = ModelProperty(name: "price", type: .int(bits: 64), isIndexed: true, previousNames: ["cost"])
            let second = try document(item("Thing", [after, ModelProperty(name: "note", type: .string)]))
                .merged(over: first)
            #expect(try await bring(connection, to: second) == ["rename in thing", "images of thing"])
            let rows = try await connection.query("SELECT price FROM thing")
            #expect(try rows[0][0].int64 == 7)
            let catalog = try await PostgresCatalog.read(connection)
            #expect(catalog.identifiers.columns["Thing"]?["price"] == number)
            #expect(catalog.identifiers.columns["Thing"]?["cost"] == nil)
            #expect(catalog.indexes.contains("thing_price_idx") && !catalog.indexes.contains("thing_cost_idx"))
            let lines = try await LogLine.lines(connection, "UPDATE thing SET price = 8")
            #expect(lines.last?.old["price"] == "7")
        }
    }

    @Test("A changed delete rule reaches the foreign key of an existing table, even one renamed in the same plan")
    func deleteRule() async throws {
        try await withConnection { connection in
            func link(_ name: String, _ rule: DeleteRule, _ previous: String...) -> ModelProperty {
                ModelProperty(
                    name: name, type: .link(to: "Owner"), isOptional: true, deleteRule: rule, previousNames: previous)
            }
            func rule() async throws -> [String] {
                try await connection.query(
                    """
                    SELECT conname || ' ' || confdeltype::text FROM pg_constraint
                    WHERE conrelid = 'thing'::regclass AND contype = 'f'
                    """
                ).map { try $0[0].string }
            }
            let first = try document(item("Owner", []), item("Thing", [link("owner", .nullify)]))
            try await bring(connection, to: first)
            try await connection.execute(
                "INSERT INTO owner VALUES ('o'), ('p'); INSERT INTO thing (_id, owner) VALUES ('a', 'o'), ('b', 'p')")
            #expect(try await rule() == ["thing_owner_fkey n"])
            let second = try document(item("Owner", []), item("Thing", [link("owner", .cascade)])).merged(over: first)
            #expect(try await bring(connection, to: second) == ["delete rule of foreign key thing_owner_fkey"])
            #expect(try await rule() == ["thing_owner_fkey c"])
            try await connection.execute("DELETE FROM owner WHERE _id = 'o'")
            #expect(try await connection.query("SELECT _id FROM thing").map { try $0[0].string } == ["b"])

            let third = try document(item("Owner", []), item("Thing", [link("keeper", .nullify, "owner")]))
                .merged(over: second)
            try await bring(connection, to: third)
            #expect(try await rule() == ["thing_keeper_fkey n"])
            try await connection.execute("DELETE FROM owner")
            #expect(try await connection.query("SELECT keeper IS NULL FROM thing")[0, 0].bool)
        }
    }

    @Test("A foreign key made by hand to refuse deletions is left alone")
    func foreignDeleteRule() async throws {
        try await withConnection { connection in
            let link = ModelProperty(name: "owner", type: .link(to: "Owner"), isOptional: true)
            let document = try document(item("Owner", []), item("Thing", [link]))
            try await bring(connection, to: document)
            try await connection.execute(
                "ALTER TABLE thing DROP CONSTRAINT thing_owner_fkey, "
                    + "ADD CONSTRAINT thing_owner_fkey FOREIGN KEY (owner) REFERENCES owner")
            #expect(try await bring(connection, to: document) == [])
        }
    }

    @Test("A renamed class keeps its table, with lists, embedded objects, links and trash, as if never renamed")
    func everything() async throws {
        func classes(_ house: String, _ agent: String, _ part: String, _ names: [String], _ isNew: Bool) -> [ModelClass]
        {
            func former(_ names: String...) -> [String] { isNew ? names : [] }
            let properties = [
                ModelProperty(
                    name: names[0], type: .link(to: agent), isOptional: true, previousNames: former("agent")),
                ModelProperty(name: names[1], type: .embedded(part), isOptional: true, previousNames: former("home")),
                ModelProperty(
                    name: names[2], type: .list(.embedded(part), isOptional: false), previousNames: former("parts")),
                ModelProperty(name: names[3], type: .string, previousNames: former("text")),
                ModelProperty(
                    name: names[4], type: .list(.string, isOptional: false), previousNames: former("tags")),
            ]
            return [
                ModelClass(
                    name: house, table: Column.sqlName(for: house), properties: [Self.key] + properties,
                    uniqueProperties: [[names[3], "\(names[1]).\(names[5])"]], isTrashable: true,
                    previousNames: former("Listing")),
                item(agent, [], previous: former("Agent")),
                ModelClass(
                    name: part, table: nil,
                    properties: [
                        ModelProperty(
                            name: names[5], type: .string, isIndexed: true, previousNames: former("street")),
                        ModelProperty(
                            name: names[6], type: .list(.link(to: agent), isOptional: false),
                            previousNames: former("owners")),
                        ModelProperty(name: "extra", type: .array([.int(bits: 64)])),
                    ], previousNames: former("Part")),
            ]
        }
        let old = classes(
            "Listing", "Agent", "Part", ["agent", "home", "parts", "text", "tags", "street", "owners"], false)
        let new = classes(
            "House", "Broker", "Piece", ["broker", "site", "pieces", "body", "labels", "road", "keepers"], true)
        try await withConnection { connection in
            let first = try ModelDocument(app: "a", classes: old)
            try await bring(connection, to: first)
            try await connection.execute(
                """
                INSERT INTO agent VALUES ('g');
                INSERT INTO listing (_id, agent, home, home_street, text) VALUES ('a', 'g', true, 's', 't');
                INSERT INTO listing_tags (_id, owner, rank, value)
                VALUES ('\\x000000000000000000000001', 'a', 'a0', 'red');
                INSERT INTO listing_home_owners (_id, owner, rank, target)
                VALUES ('\\x000000000000000000000002', 'a', 'a0', 'g');
                INSERT INTO listing_parts (_element, _owner, _rank, street, extra)
                VALUES ('\\x000000000000000000000003', 'a', 'a0', 'u', '\\x00')
                """)
            let numbers = try await PostgresCatalog.read(connection).identifiers
            let second = try ModelDocument(app: "a", classes: new).merged(over: first)
            let steps = try await bring(connection, to: second)
            #expect(steps.allSatisfy { $0.hasPrefix("rename ") || $0.hasPrefix("images of ") }, "\(steps)")
            let rows = try await connection.query(
                """
                SELECT h.broker, h.site_road, h.body, l.value, k.target, p.road FROM house h
                JOIN house_labels l ON l.owner = h._id JOIN house_site_keepers k ON k.owner = h._id
                JOIN house_pieces p ON p._owner = h._id
                """)
            #expect(try (0..<6).map { try rows[0][$0].string } == ["g", "s", "t", "red", "g", "u"])
            let catalog = try await PostgresCatalog.read(connection)
            #expect(catalog.identifiers.classes["House"] == numbers.classes["Listing"])
            #expect(catalog.identifiers.classes["House.pieces.keepers"] == numbers.classes["Listing.parts.owners"])
            #expect(catalog.identifiers.columns["House"]?["site.road"] == numbers.columns["Listing"]?["home.street"])
            let lines = try await LogLine.lines(
                connection, "UPDATE house SET site_road = 'x'; DELETE FROM house_labels; TRUNCATE house_pieces CASCADE")
            #expect(lines.map(\.className) == ["House", "House.labels", "House.pieces"])
            let shape = try await shape(connection)
            try await withConnection { fresh in
                try await PostgresSchema.install(try second.schema(), on: fresh)
                let expected = try await self.shape(fresh)
                // The columns of a table that grew are in a different order, which the sorted lines hide.
                #expect(Set(shape) == Set(expected), "\(Set(shape).symmetricDifference(expected).sorted())")
            }
        }
    }

    @Test("A class of an existing database gets a trash, and its unique rule then covers live rows only")
    func laterTrash() async throws {
        try await withConnection { connection in
            func document(_ isTrashable: Bool) throws -> ModelDocument {
                try self.document(
                    item("Owner", [], isTrashable: isTrashable),
                    item(
                        "Thing",
                        [
                            ModelProperty(name: "name", type: .string),
                            ModelProperty(name: "owner", type: .link(to: "Owner"), isOptional: true),
                        ], unique: [["name"]], isTrashable: isTrashable))
            }
            try await bring(connection, to: document(false))
            try await connection.execute(
                "INSERT INTO owner VALUES ('o'); INSERT INTO thing (_id, name, owner) VALUES ('a', 'x', 'o')")
            try await bring(connection, to: document(true))
            try await connection.execute(
                "SELECT tombolo.trash('Owner', 'o', 'ada', NULL); INSERT INTO thing (_id, name) VALUES ('b', 'x')")
            #expect(try await connection.query("SELECT _id FROM thing WHERE trashed_at IS NOT NULL").count == 1)
            await #expect(throws: PostgresError.self) {
                try await connection.execute("INSERT INTO thing (_id, name) VALUES ('c', 'x')")
            }
            let shape = try await shape(connection)
            try await withConnection { fresh in
                try await PostgresSchema.install(try document(true).schema(), on: fresh)
                let expected = try await self.shape(fresh)
                #expect(Set(shape) == Set(expected), "\(Set(shape).symmetricDifference(expected).sorted())")
            }
        }
    }

    @Test("Between any two steps of a plan, the triggers that writers meet fit the table")
    func betweenSteps() async throws {
        try await withConnection { connection in
            let first = try document(item("Thing", [ModelProperty(name: "a", type: .int(bits: 64))]))
            try await bring(connection, to: first)
            let second = try document(
                item(
                    "Item",
                    [
                        ModelProperty(name: "b", type: .int(bits: 64), isIndexed: true, previousNames: ["a"]),
                        ModelProperty(name: "c", type: .int(bits: 64), isIndexed: true),
                    ], previous: ["Thing"]))
            let difference = PostgresSchema.difference(
                from: try await PostgresCatalog.read(connection), to: try second.schema())
            try await connection.execute("INSERT INTO thing (_id, a) VALUES ('x', 0)")
            for (index, step) in difference.steps.enumerated() {
                try await connection.execute(step.sql)
                guard step.name.hasPrefix("rename") || index > 1 else { continue }
                let lines = try await LogLine.lines(connection, "UPDATE item SET b = b + 1")
                #expect(lines.count == 1 && lines.first?.className == "Item")
            }
            #expect(difference.steps.count > 2)
        }
    }

    @Test("Two properties can exchange columns, and two classes tables, if one gets a temporary name in between")
    func chains() async throws {
        try await withConnection { connection in
            func property(_ name: String, _ column: String, previous: [String] = []) -> ModelProperty {
                ModelProperty(name: name, column: column, type: .string, previousNames: previous)
            }
            let first = try document(
                item("A", [property("x", "one"), property("y", "two")], table: "first"), item("B", [], table: "second"))
            try await bring(connection, to: first)
            try await connection.execute("INSERT INTO first VALUES ('k', 'x', 'y')")
            let second = try document(
                item("A", [property("x", "two"), property("y", "three")], table: "second"),
                item("B", [], table: "third"))
            try await bring(connection, to: second)
            let rows = try await connection.query("SELECT two, three FROM second")
            #expect(try (0..<2).map { try rows[0][$0].string } == ["x", "y"])
            let cyclic = try document(
                item("A", [property("x", "three"), property("y", "two")], table: "third"),
                item("B", [], table: "second"))
            let found = try await problems(connection, cyclic)
            #expect(found.contains { $0.contains("Can't rename the table second of A to third") }, "\(found)")
        }
    }

    @Test("A name that's already taken is a problem, and nothing is renamed")
    func taken() async throws {
        try await withConnection { connection in
            let first = try document(
                item("Thing", [ModelProperty(name: "a", type: .string), ModelProperty(name: "b", type: .string)]))
            try await bring(connection, to: first)
            let column = try await problems(
                connection,
                document(item("Thing", [ModelProperty(name: "c", column: "b", type: .string, previousNames: ["a"])])))
            #expect(
                column == [
                    "Thing.c: can't rename the column a to b: a column of that name exists. Choose another name in "
                        + "propertiesMapping()."
                ])
            try await connection.execute("CREATE TABLE item (x int)")
            let table = try await problems(connection, document(item("Item", [], previous: ["Thing"])))
            #expect(
                table.first?.contains("Can't rename the table thing of Item to item: a table of that name") == true)
        }
    }

    @Test("Properties that a newer version retired get a default and lose unique rules that its rows would break")
    func retired() async throws {
        try await withConnection { connection in
            let part = ModelClass(
                name: "Part", table: nil,
                properties: [
                    ModelProperty(name: "text", type: .string), ModelProperty(name: "count", type: .int(bits: 64)),
                    ModelProperty(name: "data", type: .array([.int(bits: 64)])),
                ])
            let parts = ModelProperty(name: "parts", type: .list(.embedded("Part"), isOptional: false))
            let first = try document(
                item(
                    "Thing", [parts] + ["code", "name"].map { ModelProperty(name: $0, type: .string) },
                    unique: [["code", "name"]]), part)
            try await bring(connection, to: first)
            // The table may have been made without a default.
            try await connection.execute("ALTER TABLE thing ALTER COLUMN code DROP DEFAULT")
            let smaller = ModelClass(name: "Part", table: nil, properties: [ModelProperty(name: "text", type: .string)])
            let second = try document(item("Thing", [parts, ModelProperty(name: "name", type: .string)]), smaller)
                .merged(over: first)
            let steps = try await bring(connection, to: second)
            #expect(
                steps == [
                    "default of thing.code", "default of thing_parts.count", "default of thing_parts.data",
                    "no more index thing_code_name_key",
                ])
            try await connection.execute(
                """
                INSERT INTO thing (_id, name) VALUES ('a', 'n'), ('b', 'n');
                INSERT INTO thing_parts (_element, _owner, _rank, text) VALUES ('\\x000000000000000000000001', 'a', 'a0', 't')
                """)
            let rows = try await connection.query("SELECT code, count, data FROM thing, thing_parts LIMIT 1")
            #expect(try rows[0][0].string == "")
            #expect(try rows[0][1].int64 == 0)
            #expect(try ArrayCoding.decode(Data(rows[0][2].bytes), [.int(bits: 64)]) == [])
            // Older versions keep working, and the property may come back.
            let third = try document(
                item("Thing", [parts] + ["code", "name"].map { ModelProperty(name: $0, type: .string) }), part
            )
            .merged(over: second)
            try await bring(connection, to: third)
        }
    }

    @Test("A database from an earlier version gets its column names, and renames work in it at once")
    func earlierVersion() async throws {
        try await withConnection { connection in
            let first = try document(
                item("Thing", [ModelProperty(name: "oldName", column: "old_name", type: .string)]))
            try await bring(connection, to: first)
            try await connection.execute("ALTER TABLE tombolo.class_column DROP COLUMN sql_name")
            #expect(
                try await bring(connection, to: first) == [
                    "schema tombolo", "tombolo.class_column.sql_name", "numbers of classes and columns",
                ])
            try await connection.execute(
                """
                ALTER TABLE tombolo.class_column DROP COLUMN sql_name;
                ALTER TABLE tombolo.job DROP COLUMN message_wording;
                ALTER TABLE tombolo.job_row DROP COLUMN plan, DROP COLUMN reason_wording;
                ALTER TABLE tombolo.routine DROP COLUMN messages
                """)
            let second = try document(
                item("Thing", [ModelProperty(name: "newName", type: .string, previousNames: ["oldName"])]))
            try await bring(connection, to: second)
            let names = try await PostgresCatalog.read(connection).identifiers.sqlNames
            #expect(names == ["Thing": ["_id": "_id", "newName": "new_name"]])
            let relations = try await PostgresCatalog.read(connection).systemRelations
            #expect(
                relations.isSuperset(of: [
                    "job.message_wording", "job_row.plan", "job_row.reason_wording", "routine.messages",
                ]))
        }
    }

    @Test("A trash from an earlier version starts keeping reasons, and roles that could call its function still can")
    func earlierTrash() async throws {
        try await withConnection { connection in
            let other = try document(item("Other", [], isTrashable: true))
            let thing = try document(item("Thing", [], isTrashable: true))
            // Another app's tables: the functions serve all of them.
            try await bring(connection, to: other)
            try await bring(connection, to: thing)
            try await connection.execute(
                """
                ALTER TABLE thing DROP COLUMN trash_reason CASCADE;
                ALTER TABLE other DROP COLUMN trash_reason CASCADE;
                DROP FUNCTION tombolo.trash(text, text, text, uuid, text);
                CREATE FUNCTION tombolo.trash(p_class text, p_key text, p_by text, p_group uuid) RETURNS boolean
                    LANGUAGE sql AS 'SELECT true';
                REVOKE ALL ON FUNCTION tombolo.trash(text, text, text, uuid) FROM PUBLIC;
                DROP ROLE IF EXISTS trash_caller;
                CREATE ROLE trash_caller;
                GRANT EXECUTE ON FUNCTION tombolo.trash(text, text, text, uuid) TO trash_caller;
                INSERT INTO thing (_id) VALUES ('a')
                """)
            let steps = try await bring(connection, to: thing)
            #expect(
                steps.prefix(3) == [
                    "column other.trash_reason", "column thing.trash_reason", "function tombolo.trash",
                ], "\(steps)")
            let may = try await connection.query(
                """
                SELECT has_function_privilege('trash_caller', 'tombolo.trash(text, text, text, uuid, text)', 'EXECUTE'),
                    has_function_privilege('public', 'tombolo.trash(text, text, text, uuid, text)', 'EXECUTE'),
                    to_regprocedure('tombolo.trash(text, text, text, uuid)') IS NULL
                """)
            #expect(try (0..<3).map { try may[0][$0].bool } == [true, false, true])
            try await connection.execute("SELECT tombolo.trash('Thing', 'a', 'ada', NULL)")
            try await connection.execute(
                "SELECT tombolo.restore('Thing', 'a'); SELECT tombolo.trash('Thing', 'a', 'ada', NULL, 'why')")
            #expect(try await connection.query("SELECT trash_reason FROM thing")[0][0].string == "why")
            try await connection.execute("DROP OWNED BY trash_caller; DROP ROLE trash_caller")
        }
    }

    @Test("After random model changes, the plan leaves nothing to do and the tables match a fresh database's")
    func randomChanges() async throws {
        var random = SeededGenerator.printed(for: "random changes of models")
        for _ in 0..<4 {
            try await withConnection { connection in
                var maker = ModelEvolution(random: random)
                var kept: ModelDocument?
                for _ in 0..<5 {
                    let document = try maker.next()
                    let merged = try document.merged(over: kept)
                    try await bring(connection, to: merged)
                    for name in maker.tables {
                        try await connection.execute(
                            "INSERT INTO \(name) (_id) VALUES ('\(UInt64.random(in: 0..<1 << 40, using: &maker.random))')"
                        )
                    }
                    kept = merged
                }
                random = maker.random
            }
        }
    }
}
