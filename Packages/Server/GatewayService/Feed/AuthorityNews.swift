internal import TomboloModel
public import TomboloRules
public import TomboloSyncProtocol

/// How a tick changes what users may do.
public struct AuthorityNews: Hashable, Sendable {
    /// The users whose accounts or grants changed, as ``SessionAuthority/user`` names them.
    public let users: Set<String>
    /// Models or rules changed, which affects every user.
    public let hasNewDocuments: Bool

    /// Anything may have changed.
    public static let everything = AuthorityNews(users: [], hasNewDocuments: true)

    private init(users: Set<String>, hasNewDocuments: Bool) {
        self.users = users
        self.hasNewDocuments = hasNewDocuments
    }

    /// - Parameter grants: the columns from which rows grant users something.
    public init(_ difference: TickDifference, grants: [GrantColumns]) {
        var users = difference.accounts
        for grant in grants {
            for change in difference.changes where change.reference.classIndex == grant.classIndex {
                for row in [change.old, change.new] {
                    guard let row, row.values.indices.contains(grant.userColumn) else { continue }
                    switch row[grant.userColumn] {
                    case .objectId(let id): users.insert(id.stringValue)
                    case .string(let text): users.insert(text)
                    default: break
                    }
                }
            }
        }
        self.init(users: users, hasNewDocuments: difference.hasNewDocuments)
    }

    public var isEmpty: Bool { users.isEmpty && !hasNewDocuments }
}
