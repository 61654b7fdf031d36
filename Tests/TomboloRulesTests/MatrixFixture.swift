import Testing
import TomboloChangesets
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// Rules with permission matrices, for an app whose teams own listings.
enum MatrixFixture {
    static let schema = Result {
        try Schema([
            ClassSchema(name: "Team", columns: [Column(name: "_id", type: .objectId, isPrimaryKey: true)]),
            ClassSchema(
                name: "Listing",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true),
                    Column(name: "team", type: .link(to: "Team"), isOptional: true),
                    Column(name: "isPublic", type: .bool), Column(name: "title", type: .string),
                ]),
            ClassSchema(
                name: "Photo",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true),
                    Column(name: "team", type: .link(to: "Team"), isOptional: true),
                ]),
            ClassSchema(
                name: "Note",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "team", type: .string),
                ]),
            ClassSchema(
                name: "Membership",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "user", type: .objectId),
                    Column(name: "role", type: .string),
                    Column(name: "team", type: .link(to: "Team"), isOptional: true),
                ]),
        ])
    }

    static let grants =
        "grants: {class: Membership, user: user, role: role, scope: team, roles: [lead, member, guest]}\n"

    static func rules(_ document: String) throws -> Rules {
        try Rules(schema: schema.get(), book: RuleBook(parsing: grants + document, file: "rules.yaml"))
    }

    static let team = ObjectId(high: 1, low: 1)
    static let otherTeam = ObjectId(high: 1, low: 2)

    static func subject(_ role: String) -> Subject {
        Subject(user: ObjectId(high: 2, low: 1), grants: [RoleGrant(Role(role), in: team)])
    }

    static func listing(in team: ObjectId = team, isPublic: Bool = false, title: String = "") -> Row {
        Row([.objectId(ObjectId(high: 3, low: 1)), .objectId(team), .bool(isPublic), .string(title)])
    }

    static let crud: [TomboloRules.Operation] = [.create, .read, .update, .delete]

    /// What the subject may do with a listing, as letters.
    static func letters(_ rules: Rules, _ subject: Subject, _ row: Row) throws -> String {
        let index = try #require(rules.schema.index(of: "Listing"))
        return String(
            crud.map { operation in
                let resource = Resource.object(classIndex: index, old: row, new: row)
                let isAllowed = rules.authorize(subject, operation, resource).isAllowed
                return isAllowed ? operation.name.first ?? "?" : "-"
            })
    }

    static func matrix(_ cells: String, more: String = "") -> String {
        """
        matrix:
          scope: team
          services: {listings: Listing}
          roles:
            lead: {listings: crud}
            member: {listings: \(cells)}
        \(more)
        """
    }
}
