import TomboloRules

/// Addresses of the pages about permissions.
struct PermissionLinks: Sendable {
    let grid: String
    let why: String
    let routes: String
    let newRole: String

    init(_ app: String) {
        let query = "?app=\(Self.escape(app))"
        grid = "/panel/permissions\(query)"
        why = "/panel/permissions/why"
        routes = "/panel/permissions/routes\(query)"
        newRole = "/panel/permissions/roles/new\(query)"
    }

    static func role(_ app: String, _ role: String, _ action: String = "") -> String {
        "/panel/permissions/role\(action)?app=\(escape(app))&role=\(escape(role))"
    }

    static func box(_ app: String, _ box: PermissionMatrix.Box, version: Int64, allowed: Bool) -> String {
        "/panel/permissions/box?app=\(escape(app))&role=\(escape(box.role))&service=\(escape(box.service))"
            + "&operation=\(escape(box.operation.name))&allowed=\(allowed)&version=\(version)"
    }

    static func box(_ app: String, _ box: PermissionMatrix.UserBox, version: Int64, allowed: Bool) -> String {
        "/panel/permissions/box?app=\(escape(app))&permission=\(escape(box.permission))&group=\(escape(box.group))"
            + "&allowed=\(allowed)&version=\(version)"
    }

    /// Escapes a text for the query of an address.
    static func escape(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
