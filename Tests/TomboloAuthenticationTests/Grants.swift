import Foundation
import TomboloModel

/// Gives a role in a team. The user is an `ObjectId`, as is the team.
final class TeamMember: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted(indexed: true) var user: ObjectId?
    @Persisted var role: String?
    @Persisted var team: ObjectId?

    override class func isTrashable() -> Bool { true }
}

/// Gives a role in a shop with a number. The user is text.
final class ShopClerk: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted(indexed: true) var userID: String
    @Persisted var duty: String
    @Persisted var shop: Int
    @Persisted var since: Date
}

/// Gives a role without a scope.
final class Operator: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted(indexed: true) var user: ObjectId?
    @Persisted var role: String
}
