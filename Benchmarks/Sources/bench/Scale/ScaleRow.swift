import ArgumentParser

/// A row of the table by which the servers are assessed.
enum ScaleRow: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// The gateway's memory for each idle device.
    case memory
    /// The gateway's CPU time while all devices are idle.
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
    /// All devices reconnect at once.
    case reconnect
    /// One user's hostile connections, as experienced by another user's devices.
    case hostile
    /// The ticket API: lists for anonymous visitors, and moves.
    case tickets
    /// The cost of the changelog's triggers for plain SQL.
    case changelog

    /// Parses `name,name`.
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
