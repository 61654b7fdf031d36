import ArgumentParser

/// A row of the table by which the servers are judged.
enum ScaleRow: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Memory of the gateway for each device that does nothing.
    case memory
    /// CPU time of the gateway while all devices do nothing.
    case idle
    /// Commits that concern no device.
    case nobody
    /// Commits that concern one device each.
    case one
    /// Commits that concern all devices.
    case all
    /// The same for devices with files.
    case files
    case upload
    case firstSync = "first-sync"
    /// All devices connect again at once.
    case reconnect
    /// Hostile connections of one user, seen from another user's devices.
    case hostile
    /// The ticket API: lists for anonymous visitors, and moves.
    case tickets
    /// What the changelog's triggers cost plain SQL.
    case changelog

    /// From `name,name`.
    static func list(_ text: String) throws -> [ScaleRow] {
        let names = text.split(separator: ",").map(String.init)
        let rows = try names.map { name in
            guard let row = ScaleRow(rawValue: name) else {
                throw ValidationError("There is no row '\(name)'. Rows: \(allNames).")
            }
            return row
        }
        return allCases.filter(rows.contains)
    }

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
