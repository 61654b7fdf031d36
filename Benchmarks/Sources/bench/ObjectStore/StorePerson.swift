import Foundation
import TomboloModel

/// A typical model class: a key and five properties, none of them indexed.
final class StorePerson: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var score: Double
    @Persisted var isActive: Bool
    @Persisted var createdAt: Date

    static let tableName = "store_person"
}
