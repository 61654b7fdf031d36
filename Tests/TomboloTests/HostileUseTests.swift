import Foundation
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Programming mistakes stop the program with a message that says what to do")
struct HostileUseTests {
    private static func realm(_ name: String) throws -> Realm {
        try Realm(configuration: .init(inMemoryIdentifier: name, objectTypes: [Session.self]))
    }

    private func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("Nested write transactions are refused")
    func nested() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Self.realm("nested")
            try realm.write { try realm.write {} }
        }
        #expect(text(result).contains("The Realm is already in a write transaction"))
    }

    @Test("Adding and deleting outside a write transaction is refused", arguments: ["add", "create", "delete", "list"])
    func outside(_ call: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call = call as String] in
            let realm = try Self.realm("outside2")
            let session = Session(1, "")
            if call != "add" { try realm.write { realm.add(session) } }
            switch call {
            case "add": realm.add(session)
            case "create": realm.create(Session.self, value: ["_id": 2])
            case "delete": realm.delete(session)
            default: session.speakers.append(Speaker())
            }
        }
        #expect(text(result).contains("Cannot modify managed objects outside of a write transaction"))
    }

    @Test("Adding an object to a second Realm is refused")
    func twoRealms() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (one, two) = (try Self.realm("one"), try Self.realm("two"))
            let session = Session(1, "")
            try one.write { one.add(session) }
            try two.write { two.add(session) }
        }
        #expect(text(result).contains("Object is already managed by another Realm. Use create instead"))
    }

    @Test("Adding a deleted object is refused")
    func deleted() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Self.realm("deleted2")
            let session = Session(1, "")
            try realm.write { realm.add(session) }
            try realm.write { realm.delete(session) }
            try realm.write { realm.add(session) }
        }
        #expect(text(result).contains("Adding a deleted or invalidated object to a Realm is not permitted"))
    }

    @Test("Deleting an object twice is refused")
    func deletedTwice() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Self.realm("twice")
            let session = Session(1, "")
            try realm.write { realm.add(session) }
            try realm.write {
                realm.delete(session)
                realm.delete(session)
            }
        }
        #expect(text(result).contains("Can only delete an object once"))
    }

    @Test("Using a class the Realm doesn't have is refused")
    func unknownClass() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.realm("unknown").objects(Note.self)
        }
        #expect(text(result).contains("Object type 'Note' is not managed by the Realm: add it to objectTypes"))
    }

    @Test("An index past the end is refused")
    func index() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Self.realm("index").objects(Session.self)[0]
        }
        #expect(text(result).contains("Index 0 is out of bounds (must be less than 0)"))
    }

    @Test("A property name the class doesn't have is refused")
    func unknownName() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Session(1, "")["titel"]
        }
        #expect(text(result).contains("Session has no property 'titel'; did you mean 'title'?"))
    }

    @Test("Committing or cancelling without a transaction is refused", arguments: [true, false])
    func notBegun(commit: Bool) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [commit = commit as Bool] in
            let realm = try Self.realm("none")
            if commit { try realm.commitWrite() } else { realm.cancelWrite() }
        }
        #expect(text(result).contains("the Realm is not in a write transaction"))
    }
}
