import ChildPrograms
import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore

@testable import ReversedModels
@testable import TomboloMigration

@Suite("Models for tables that exist already", .serialized)
struct ReverseTests {
    private func withShop(
        _ body: (PostgresConnection, PostgresConfiguration) async throws -> Void
    ) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(configuration)
        try await connection.execute(Shop.sql)
        try await body(connection, configuration)
        await connection.close()
    }

    private static func address(_ configuration: PostgresConfiguration) -> String {
        "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432") connect_timeout=600 "
            + "user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
    }

    @Test("The Swift source for a shop's tables compiles, and gives the same document as the tables")
    func source() async throws {
        try await withShop { connection, _ in
            let models = try ReverseModels(of: try await DatabaseSurvey.read(connection), app: "shop")
            // The file contains the tool's own output. If the output has changed, copy what this test prints.
            let file = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../Migration/ReversedModels/ShopModels.swift")
            let expected = try String(contentsOf: file, encoding: .utf8)
            #expect(models.source == expected, "\(models.source)")
            let types: [Object.Type] = [
                Address.self, Category.self, Customer.self, Order.self, Product.self, Shipment.self, 订单.self,
            ]
            #expect(try ModelDocument(app: "shop", objectTypes: types) == models.document)
            #expect(try ModelDocument(json: models.document.json) == models.document)
            let product = Product()
            #expect(product.note == "it's \"new\"")
            #expect(Category().class == -1)
            #expect(Customer().isActive)
        }
    }

    @Test("Each table and column that doesn't fit is reported, with what can be done")
    func findings() async throws {
        try await withShop { connection, _ in
            let models = try ReverseModels(of: try await DatabaseSurvey.read(connection), app: "shop")
            func places(_ kind: ReverseFinding.Kind) -> [String] {
                models.findings.filter { $0.kind == kind && !$0.message.contains("collation") }
                    .map { finding in finding.column.map { "\(finding.table).\($0)" } ?? finding.table }
            }
            #expect(
                places(.required) == [
                    "address.country", "category.id", "order.placed_at", "order.status", "product.name",
                    "product.price", "product.stock", "shipment.id", "shipment.line_no", "shipment.weight",
                ])
            #expect(
                places(.leftOut) == [
                    "active_customer", "audit_log", "customer.birthday", "customer.preferences", "order_line",
                    "product.available", "product.tags", "product.unit_price", "shipment.location", "visit.id",
                ])
            #expect(
                places(.change) == [
                    "address.customer_id", "customer.preferences", "order.customer", "product.category_id",
                ])
            #expect(
                places(.note) == [
                    "category.id", "order.customer", "product.category_id", "shipment.id",
                    "shipment.order_id, line_no",
                ])
            let composite = try #require(models.findings.first { $0.table == "order_line" })
            #expect(composite.message.contains("has 2 columns (order_id, line_no)"))
            #expect(composite.message.contains("Foreign keys refer to the columns"))
            #expect(models.findings.allSatisfy { !$0.description.isEmpty })
        }
    }

    @Test("Once every requirement is met, tables are adopted as they are: none is rewritten, and no row is lost")
    func adoption() async throws {
        try await withShop { connection, _ in
            let before = try await Adoption.examine(connection, app: "shop")
            #expect(!before.isPossible)
            #expect(before.steps.isEmpty)
            // Follow the findings literally.
            for finding in before.findings where finding.kind == .required {
                try await connection.execute(try #require(finding.fix))
            }
            try await connection.execute("ALTER TABLE shipment DROP CONSTRAINT shipment_order_id_line_no_fkey")
            for finding in before.findings where ["order_line", "audit_log"].contains(finding.table) {
                if finding.kind == .leftOut, let fix = finding.fix { try await connection.execute(fix) }
            }
            try await connection.execute("UPDATE customer SET rating = 'NaN', created_at = 'infinity'")
            let values = try await Adoption.examine(connection, app: "shop")
            #expect(
                values.findings.filter { $0.kind == .required }.map { "\($0.column ?? ""): \($0.message.prefix(6))" }
                    == [
                        "line_no: It's o", "quantity: It's o", "rating: 1 row ", "created_at: 1 row ",
                    ])
            try await connection.execute(
                "ALTER TABLE order_line ALTER line_no TYPE bigint, ALTER quantity TYPE bigint")
            let wrong = try await Adoption.examine(connection, app: "shop")
            #expect(
                wrong.findings.filter { $0.kind == .required }.map { $0.column ?? "" } == ["rating", "created_at"])
            let rows = try await connection.query(
                try #require(wrong.findings.first { $0.column == "rating" && $0.kind == .required }?.fix))
            #expect(rows.count == 1)
            try await connection.execute("UPDATE customer SET rating = 1, created_at = now()")

            let adoption = try await Adoption.examine(connection, app: "shop")
            #expect(adoption.isPossible)
            let apply = try await Migrator.toDocuments([AppDocuments(models: adoption.models.document)], on: connection)
            #expect(try await apply.plan().steps == adoption.steps)
            #expect(adoption.models.document.classes.map(\.name).contains("OrderLine"))
            let state = """
                SELECT c.relname::text, pg_relation_filenode(c.oid)::bigint FROM pg_class c
                WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1
                """
            let files = try await connection.query(state).map { "\(try $0[0].string) \(try $0[1].int64)" }
            for step in adoption.steps { try await connection.execute(step.sql) }
            #expect(try await connection.query(state).map { "\(try $0[0].string) \(try $0[1].int64)" } == files)
            let schema = try adoption.models.document.schema()
            let rest = PostgresSchema.difference(from: try await PostgresCatalog.read(connection), to: schema)
            #expect(rest.steps.map(\.name) == [])
            #expect(rest.problems == [])
            #expect(try await connection.query("SELECT count(*) FROM product")[0][0].int64 == 500)
            // Services continue as before, and their writes are logged.
            try await connection.execute(
                """
                UPDATE product SET stock = 3 WHERE sku = 'p1';
                INSERT INTO customer (email, full_name, preferences) VALUES ('b@example.org', 'Bo', '{}');
                DELETE FROM address
                """)
            let logged = try await connection.query(
                """
                SELECT c.name || ' ' || l.operation::text FROM tombolo.changelog l
                JOIN tombolo.class c ON c.id = l.class ORDER BY l.seq
                """)
            #expect(try logged.map { try $0[0].string } == ["Product u", "Customer c"])
            // A device's insert doesn't set the columns that were left out.
            try await connection.execute(
                """
                INSERT INTO customer (id, email, full_name, is_active, created_at)
                VALUES (gen_random_uuid(), 'c@example.org', 'Cy', true, now())
                """)
            let again = try await DatabaseSurvey.read(connection)
            #expect(try ReverseModels(of: again, app: "shop").document.classes == [])
        }
    }

    @Test("Tables that wouldn't work are left out, or their finding says what has to change")
    func tablesThatWouldNotWork() async throws {
        let connection = try await PostgresConnection.connect(try await TestCluster.shared().createDatabase())
        try await connection.execute(
            """
            CREATE TABLE vehicle (id bigint PRIMARY KEY, wheels bigint NOT NULL);
            CREATE TABLE lorry (PRIMARY KEY (id), load bigint) INHERITS (vehicle);
            CREATE TABLE ticket (id uuid PRIMARY KEY, number bigint GENERATED ALWAYS AS IDENTITY);
            CREATE TABLE secret (id uuid PRIMARY KEY, words text);
            ALTER TABLE secret ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
            CREATE TABLE event (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
            CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (0) TO (10)
            """)
        let before = try await Adoption.examine(connection, app: "strange")
        #expect(before.findings.filter { $0.kind == .leftOut }.map(\.table) == ["vehicle"])
        let required = before.findings.filter { $0.kind == .required }
        #expect(required.map { "\($0.table).\($0.column ?? "")" } == ["secret.", "ticket.number"])
        for finding in required { try await connection.execute(try #require(finding.fix)) }
        let after = try await Adoption.examine(connection, app: "strange")
        #expect(after.isPossible, "\(after.findings)")
        #expect(after.models.document.classes.map(\.name) == ["Event", "Lorry", "Secret", "Ticket"])
        for step in after.steps { try await connection.execute(step.sql) }
        try await connection.execute("INSERT INTO ticket (id, number) VALUES (gen_random_uuid(), 7)")
        await connection.close()
    }

    @Test("Tables created from a document give the same document again")
    func roundTrip() async throws {
        let key = ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)
        let scalars: [PropertyType] = [
            .bool, .int(bits: 64), .double, .string, .data, .date, .objectId, .uuid, .decimal128,
        ]
        let document = try ModelDocument(
            app: "again",
            classes: [
                ModelClass(
                    name: "Thing", table: "thing",
                    properties: [key]
                        + scalars.enumerated().flatMap { index, type in
                            [
                                ModelProperty(name: "required\(index)", type: type, isIndexed: index == 3),
                                ModelProperty(name: "optional\(index)", type: type, isOptional: true),
                            ]
                        } + [
                            ModelProperty(name: "other", type: .link(to: "Other"), isOptional: true),
                            ModelProperty(
                                name: "owner", type: .link(to: "Other"), isOptional: true, deleteRule: .cascade),
                        ], uniqueProperties: [["required3", "optional1"]]),
                ModelClass(
                    name: "Other", table: "other_table",
                    properties: [ModelProperty(name: "code", column: "Code", type: .string, isPrimaryKey: true)],
                    isTrashable: true),
            ])
        let connection = try await PostgresConnection.connect(try await TestCluster.shared().createDatabase())
        try await PostgresSchema.install(try document.schema(), on: connection)
        try await connection.execute("DROP SCHEMA tombolo CASCADE")
        let models = try ReverseModels(of: try await DatabaseSurvey.read(connection), app: "again")
        let renamed = try ModelDocument(
            app: "again",
            classes: models.document.classes.map { item in
                // The database only knows the table's name, not the class's.
                ModelClass(
                    name: item.name == "OtherTable" ? "Other" : item.name, table: item.table,
                    properties: item.properties.map { property in
                        guard case .link = property.type else { return property }
                        return ModelProperty(
                            name: property.name, column: property.column, type: .link(to: "Other"), isOptional: true,
                            deleteRule: property.deleteRule)
                    }, uniqueProperties: item.uniqueProperties, isTrashable: item.isTrashable)
            })
        #expect(renamed == document)
        #expect(models.requirements == [])
        await connection.close()
    }

    @Test(
        "Names in SQL become unused names in Swift",
        arguments: [
            ("order_item", "OrderItem", "orderItem"), ("ORDERS", "Orders", "orders"), ("userId", "UserId", "userId"),
            ("data", "DataRow", "data"), ("2nd place", "Table2ndPlace", "column2ndPlace"), ("_id", "Id", "_id"),
            ("description", "Description", "descriptionColumn"), ("---", "Table", "column"),
            ("Straße", "Straße", "straße"), ("self", "SelfRow", "selfColumn"),
            ("swift", "SwiftRow", "swift"),
        ])
    func names(sql: String, className: String, property: String) {
        #expect(ReverseName.className(sql) == className)
        #expect(ReverseName.propertyName(sql) == property)
    }

    @Test(
        "Simple defaults become Swift's; others are left to PostgreSQL",
        arguments: [
            ("0", PropertyType.int(bits: 64), "0"), ("'-1'::integer", .int(bits: 64), "-1"),
            ("(-5)", .int(bits: 64), "-5"), ("nextval('x'::regclass)", .int(bits: 64), nil), ("1.5", .double, "1.5"),
            ("'NaN'::double precision", .double, nil), ("true", .bool, "true"), ("now()", .date, nil),
            ("'a'::text", .string, "\"a\""), ("'it''s \"x\"'::text", .string, "\"it's \\\"x\\\"\""),
            ("('a'::text || 'b'::text)", .string, nil), ("'a\\b'::text", .string, nil), ("'a", .string, "\"a\""),
        ] as [(String, PropertyType, String?)])
    func defaults(expression: String, type: PropertyType, literal: String?) {
        let column = SurveyedColumn(name: "x", type: "", baseType: "", defaultExpression: expression)
        #expect(ReverseDefault.literal(column, ModelProperty(name: "x", type: type)) == literal)
    }

    @Test("The commands write both files, refuse to overwrite them, and list the requirements")
    func commands() async throws {
        try await withShop { _, configuration in
            let folder = FileManager.default.temporaryDirectory.appending(path: "reverse-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let tool = try BuiltProgram("migration-tool", "MigrationTool")
            func run(_ arguments: String...) async throws -> ProgramRun.Outcome {
                try await tool.run(
                    arguments, environment: ["TOMBOLO_DATABASE_URL": Self.address(configuration)], in: folder)
            }
            let models = try await run("models", "--from-database", "--app", "shop")
            #expect(models.status == 0, "\(models.messages)")
            #expect(models.output.contains("7 classes"))
            #expect(models.messages.contains("order_line: left out: Its primary key has 2 columns"))
            let json = try Data(contentsOf: folder.appending(path: "models.json"))
            #expect(try ModelDocument(json: Array(json)).app == "shop")
            let again = try await run("models", "--from-database")
            #expect(again.status == 1)
            #expect(again.messages.contains("models.json already exists"))
            let wrong = try await run("models", "--from-database", "--table", "custmer")
            #expect(wrong.messages.contains("Did you mean 'customer'?"))
            #expect(try await run("models").status == 64)
            let nowhere = try await run("models", "--from-database", "--schema", "publik", "--document", "n.json")
            #expect(nowhere.status == 1 && nowhere.messages.contains("Did you mean 'public'?"), "\(nowhere.messages)")
            let nothing = try await run("models", "--from-database", "--table", "visit", "--document", "n.json")
            #expect(nothing.status == 1 && nothing.messages.contains("nothing was written"), "\(nothing.messages)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "n.json").path()))
            let refused = try await run("adopt", "--app", "shop", "--force")
            #expect(refused.status == 1)
            #expect(refused.messages.contains("10 changes are required"))
            let adopted = try await run("adopt", "--table", "customer", "--document", "c.json", "--swift", "C.swift")
            #expect(adopted.status == 0, "\(adopted.messages)")
            #expect(adopted.output.contains("changelog triggers of customer"))
            #expect(adopted.output.contains("migration-tool apply --models c.json"))
            let applied = try await run("apply", "--models", "c.json")
            #expect(applied.status == 0, "\(applied.messages)")
            let plan = try await run("plan", "--models", "c.json")
            #expect(plan.output == "The database is up to date.\n", "\(plan.output)")
        }
    }
}
