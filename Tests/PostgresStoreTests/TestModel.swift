import Foundation
import TomboloModel

final class Account: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var balance: Int
}

final class Parent: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name: String
}

final class Child: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var title: Int
    @Persisted var parent: Parent?
}

final class Person: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var email: String
    @Persisted var born: Date?
    @Persisted var height: Double
    @Persisted var photo: Data?
    @Persisted var badge: UUID?
    @Persisted var isMember: Bool
    @Persisted var level: Int8
    @Persisted var visits: Int

    override class func uniqueProperties() -> [[String]] { [["email"]] }
}

final class Tagged: Object {
    @Persisted(primaryKey: true) var _id: UUID
    @Persisted var title: String
    @Persisted var parents: List<Parent>
}

final class Note: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var slug: String
    @Persisted(indexed: true) var text: String
    @Persisted var parent: Parent?
    @Persisted var mentions: List<Parent>

    override class func uniqueProperties() -> [[String]] { [["slug"]] }
    override class func isTrashable() -> Bool { true }
}

enum TestModel {
    static func schema() throws -> Schema {
        try Schema.of([Account.self, Parent.self, Child.self, Person.self, Tagged.self, Note.self])
    }

    static func index(_ name: String, _ schema: Schema) throws -> Int {
        guard let index = schema.index(of: name) else { throw TestFailure("no class \(name)") }
        return index
    }
}

struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
