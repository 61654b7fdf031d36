import Foundation
import Tombolo

/// Releases of an app's classes. The classes share their names across releases, so Realms that list no classes leave them out.
class Release: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

enum R1 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var age: String?
        @Persisted var score: Double?
        @Persisted var home: Place?
        @Persisted var friends: List<Person>
        @Persisted var tags: List<String>
    }

    class Place: Release {
        @Persisted(primaryKey: true) var id: String
        @Persisted var street: String
        @Persisted var number: Int
    }

    class Note: Release {
        @Persisted var text: String
        @Persisted var place: Place?
    }
}

enum R2 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var fullName: String
        @Persisted var age: Int
        @Persisted var score: Double
        @Persisted var level = 7
        @Persisted var token: UUID
        @Persisted var home: Place?
        @Persisted var mates: List<Person>
        @Persisted var tags: List<String>
    }

    /// Has another primary key.
    class Place: Release {
        @Persisted(primaryKey: true) var key: ObjectId
        @Persisted var id: String
        @Persisted var street: String
        @Persisted var number: Int
    }

    class Note: Release {
        @Persisted(primaryKey: true) var key: String
        @Persisted var text: String
        @Persisted var place: Place?
    }
}

/// Places became embedded objects.
enum R3 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var age: String?
        @Persisted var score: Double?
        @Persisted var home: Place?
        @Persisted var friends: List<Person>
        @Persisted var tags: List<String>
    }

    class Place: EmbeddedObject {
        @Persisted var id: String
        @Persisted var street: String
        @Persisted var number: Int
        @Persisted var rooms: List<Room>
    }

    class Room: EmbeddedObject {
        @Persisted var size: Int
    }
}

/// Scores became required, and an embedded object was added.
enum R5 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var age: String?
        @Persisted var score: Double
        @Persisted var office: Office?
        @Persisted var friends: List<Person>
        @Persisted var tags: List<String>
    }

    class Office: EmbeddedObject {
        @Persisted var floor: Int
        @Persisted var desk: Desk?
    }

    class Desk: EmbeddedObject {
        @Persisted var number: Int
    }
}

/// Has embedded objects that the next release renames.
enum R6 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var parts: List<Part>
        @Persisted var home: Place?
    }

    class Part: EmbeddedObject {
        @Persisted var name: String
        @Persisted var code: String
        @Persisted var rooms: List<Room>
    }

    class Place: EmbeddedObject {
        @Persisted var street: String
        @Persisted var rooms: List<Room>
    }

    class Room: EmbeddedObject {
        @Persisted var size: Int
    }
}

enum R7 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var pieces: List<Part>
        @Persisted var address: Place?
    }

    class Part: EmbeddedObject {
        @Persisted var code: String
        @Persisted var name: String
        @Persisted var level = 7
        @Persisted var rooms: List<Room>
    }

    class Place: EmbeddedObject {
        @Persisted var street: String
        @Persisted var rooms: List<Room>
    }

    class Room: EmbeddedObject {
        @Persisted var size: Int
    }
}

/// A property was added to the elements of a list.
enum R8 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var parts: List<Part>
        @Persisted var home: R6.Place?
    }

    class Part: EmbeddedObject {
        @Persisted var name: String
        @Persisted var code: String
        @Persisted var level = 7
        @Persisted var rooms: List<R6.Room>
    }
}

/// Properties of embedded classes were renamed.
enum R9 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var pieces: List<Part>
        @Persisted var home: Place?
    }

    class Part: EmbeddedObject {
        @Persisted var title: String
        @Persisted var code: String
        @Persisted var rooms: List<R6.Room>
    }

    class Place: EmbeddedObject {
        @Persisted var road: String
        @Persisted var halls: List<R6.Room>
    }
}

/// Renames properties of embedded classes, and the properties that hold their objects.
enum R10 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var pieces: List<R9.Part>
        @Persisted var address: R9.Place?
    }
}

/// Parts are deleted together with their order.
enum R11 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var parts: List<Part>
    }

    class Order: Release {
        @Persisted(primaryKey: true) var id: Int
    }

    class Part: EmbeddedObject {
        @Persisted(onDelete: .cascade) var order: Order?
        @Persisted var rooms: List<Room>
    }

    class Room: EmbeddedObject {
        @Persisted var desks: List<R5.Desk>
    }
}

/// Embedded objects get another class, whose properties have the same names.
enum R12 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var parts: List<R6.Part>
        @Persisted var home: Villa?
    }

    class Villa: EmbeddedObject {
        @Persisted var street: String
        @Persisted var rooms: List<R6.Room>
    }
}

/// A link was renamed.
enum R14 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var age: String?
        @Persisted var score: Double?
        @Persisted var address: R1.Place?
        @Persisted var friends: List<Person>
        @Persisted var tags: List<String>
    }
}

/// A link became an embedded object of another class.
enum R13 {
    class Person: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var age: String?
        @Persisted var score: Double?
        @Persisted var home: Villa?
        @Persisted var friends: List<Person>
        @Persisted var tags: List<String>
    }

    class Villa: EmbeddedObject {
        @Persisted var street: String
        @Persisted var number: Int
    }
}

/// Has a list stored in one column.
enum R4 {
    class Drawing: Release {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var strokes: List<Stroke>
    }

    class Stroke: EmbeddedObject {
        @Persisted var levels: List<Int>
    }
}

extension TemporaryFolder {
    func release(
        _ version: UInt64, _ types: [ObjectBase.Type], name: String = "release", _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        .init(
            fileURL: url.appending(path: "\(name).sqlite"), schemaVersion: version, migrationBlock: block,
            objectTypes: types)
    }
}
