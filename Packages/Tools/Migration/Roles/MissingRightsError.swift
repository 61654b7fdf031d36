/// A program's database user has fewer rights than the program needs. The text says what is missing and what to do.
public struct MissingRightsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The most missing rights that the text lists. It counts any more.
    static let namedCount = 12

    /// `sync-gateway`
    public let program: String
    /// The user that the program connects as.
    public let user: String
    /// The role whose rights the program needs: `tombolo_gateway`.
    public let role: String
    /// For example `SELECT on tombolo.client`.
    public let missing: [String]

    public var description: String {
        let rest = missing.count - Self.namedCount
        let list =
            missing.prefix(Self.namedCount).joined(separator: ", ") + (rest > 0 ? ", and \(rest) more" : "")
        let name = role.split(separator: "_").last.map { "\($0)_1" } ?? "server_1"
        let remedy =
            user == role
            ? "run 'migration-tool apply' (or the app's own tool) as the owner of the tables, which gives '\(role)' "
                + "its rights"
            : "in TOMBOLO_DATABASE_URL, name a user that is a member of '\(role)', such as one that an administrator "
                + "creates with CREATE ROLE \(name) LOGIN IN ROLE \"\(role)\". If it's already a member, run "
                + "'migration-tool apply' (or the app's own tool) as the owner of the tables"
        return "The database user '\(user)' lacks rights that \(program) needs. Missing: \(list).\n"
            + "  What to do: \(remedy). See docs/database-roles.md."
    }
}
