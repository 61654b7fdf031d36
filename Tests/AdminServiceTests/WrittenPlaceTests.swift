import HTTPTypes
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel

@Suite("A refused value is reported with its own place, even if others have similar names")
struct WrittenPlaceTests {
    final class Ware: Object {
        @Persisted(primaryKey: true) var _id: ObjectId
        @Persisted var code: String
        @Persisted var barcode: String
        @Persisted var parts: List<Part>
        @Persisted var size: Size?

        override static func uniqueProperties() -> [[String]] { [["code"], ["barcode"]] }
    }

    final class Part: EmbeddedObject {
        @Persisted var ware: Ware?
        @Persisted var spareWare: Ware?
    }

    final class Size: EmbeddedObject {
        @Persisted var heights: List<Int8>
    }

    private static func run(
        _ body: @escaping @Sendable (_ make: @escaping @Sendable (JSON) async throws -> Answer) async throws -> Void
    ) async throws {
        let documents = AppDocuments(
            models: try ModelDocument(app: "shop", objectTypes: [Ware.self]),
            rules: "version: 1\ndefaultRoles:\n  - {name: everybody, applyWhen: {}, read: true, write: true}\n")
        try await AppSite.run(documents) { site in
            try await body { attributes in
                var bytes = JSONBytes()
                JSON.object(["data": ["type": "wares", "attributes": attributes]]).append(to: &bytes)
                return try await site.call(
                    .post, "/api/wares", String(decoding: bytes.bytes, as: UTF8.self),
                    type: "application/vnd.api+json")
            }
        }
    }

    private static func pointer(_ answer: Answer) -> String? {
        answer.json["errors"]?.list.first?["source"]?["pointer"]?.text
    }

    @Test("a unique value that is already taken is reported at its own property")
    func unique() async throws {
        try await Self.run { make in
            #expect(try await make(["code": "a", "barcode": "1"]).status == 201)
            for (attributes, name) in [
                (["code": "b", "barcode": "1"], "barcode"), (["code": "a", "barcode": "2"], "code"),
            ] as [(JSON, String)] {
                let answer = try await make(attributes)
                #expect(answer.status == 409, "\(answer.text)")
                #expect(Self.pointer(answer) == "/data/attributes/\(name)", "\(answer.text)")
                let detail = answer.json["errors"]?.list.first?["detail"]?.text
                #expect(detail == "Another of the wares has the same \(name).")
            }
        }
    }

    @Test("a number that an embedded object's list can't hold is refused")
    func numbers() async throws {
        try await Self.run { make in
            for (height, status) in [(128, 422), (-129, 422), (127, 201), (-128, 201)] as [(Int64, Int)] {
                let code = JSON.string("\(height)")
                let answer = try await make(
                    ["code": code, "barcode": code, "size": ["heights": [0, .int(height)]]])
                #expect(answer.status == status, "\(answer.text)")
                guard status == 422 else { continue }
                #expect(Self.pointer(answer) == "/data/attributes/size/heights/1", "\(answer.text)")
                let detail = answer.json["errors"]?.list.first?["detail"]?.text
                #expect(detail == "The value isn't a whole number from -128 to 127.")
            }
        }
    }

    @Test("an element's link to a missing object is reported at its own property")
    func links() async throws {
        try await Self.run { make in
            let nowhere = JSON.string(ObjectId.generate().stringValue)
            for name in ["ware", "spareWare"] {
                let answer = try await make(["code": "a", "barcode": "1", "parts": [.object([name: nowhere])]])
                #expect(answer.status == 422, "\(answer.text)")
                #expect(Self.pointer(answer) == "/data/attributes/parts/0/\(name)", "\(answer.text)")
            }
        }
    }
}
