import Foundation
import RealmSwift
import Testing

@Suite("Model documents in files")
struct ModelDocumentFileTests {
    @Test("An app writes its document in one call, and the file changes only when the models do")
    func write() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(path: "models.json")
        let document = try ModelDocument(app: "kinds", objectTypes: [ScalarKinds.self, DecimalKinds.self])
        #expect(try document.write(to: url))
        #expect(try !document.write(to: url))
        #expect(try ModelDocument(json: Array(Data(contentsOf: url))) == document)
        let other = try ModelDocument(app: "kinds", objectTypes: [DecimalKinds.self])
        #expect(try other.write(to: url))
        #expect(try String(contentsOf: url, encoding: .utf8) == other.json)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }

    @Test("The classes of these tests survive a round trip through a document")
    func classes() throws {
        let types: [Object.Type] = [ScalarKinds.self, DecimalKinds.self]
        let document = try ModelDocument(app: "kinds", objectTypes: types)
        #expect(try ModelDocument(json: document.json).schema() == Schema.of(types))
        let mixed = try ModelDocument(app: "kinds", objectTypes: [MixedKinds.self])
        #expect(
            try ModelDocument(json: mixed.json).schema().canonicalText == Schema.of([MixedKinds.self]).canonicalText)
    }
}
