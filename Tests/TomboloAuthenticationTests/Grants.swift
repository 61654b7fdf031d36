import Foundation
import TomboloModel

/// Grants a role in a team. User and team are `ObjectId`s.
final class TeamMember: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted(indexed: true) var user: ObjectId?
    @Persisted var role: String?
    @Persisted var team: ObjectId?

    override class func isTrashable() -> Bool { true }
}

/// Grants a role in a shop, which has a number. The user is text.
final class ShopClerk: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted(indexed: true) var userID: String
    @Persisted var duty: String
    @Persisted var shop: Int
    @Persisted var since: Date
}

/// Grants a role without a scope.
final class Operator: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted(indexed: true) var user: ObjectId?
    @Persisted var role: String
}
