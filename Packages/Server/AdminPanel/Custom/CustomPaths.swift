import HTTPTypes
import TomboloHTTP

/// Decides which paths are free for an app's own pages. The panel's paths are taken, with everything below them. That
/// includes pages that this server doesn't have, because another server may have them.
struct CustomPaths: Sendable {
    /// Paths of pages that not every server has.
    private static let optional = [SQLPages.path, MapPages.path]
    private static let form =
        "Write '\(AdminPanel.path)/' and a name of letters, digits, '-' and '_'. More of them, or parameters such as '{id}', may "
        + "follow behind slashes."

    /// The path components that the panel uses directly below ``AdminPanel/path``.
    private let taken: Set<Substring>

    /// - Parameter routes: must include all of the panel's own routes.
    init(beside routes: [RouteDescription]) {
        taken = Set((routes.map(\.path) + Self.optional).compactMap { Self.parts($0)?.first })
    }

    /// Why a page or an action can't have this path; nil if it can.
    /// - Parameter routes: the routes registered so far.
    func problem(_ method: HTTPRequest.Method, _ path: String, beside routes: [RouteDescription]) -> String? {
        let what = "The \(method == .get ? "page" : "action") '\(path)' can't be added to the panel"
        guard let parts = Self.parts(path), let first = parts.first, !Self.isParameter(first),
            parts.allSatisfy({ Self.isName($0) || Self.isParameter($0) }),
            Set(parts.filter(Self.isParameter)).count == parts.count(where: Self.isParameter)
        else { return "\(what): it isn't a path of a page. \(Self.form)" }
        guard !taken.contains(first) else {
            return "\(what): '\(AdminPanel.path)/\(first)' and everything below it are the panel's own. Choose another "
                + "name than '\(first)'."
        }
        let isKnown = routes.contains { $0.method == method.rawValue && Self.shape($0.path) == Self.shape(path) }
        return isKnown ? "\(what): there is one with this path already. Choose another path." : nil
    }

    /// The path components below the panel's path; nil for any other path.
    private static func parts(_ path: String) -> [Substring]? {
        guard path.hasPrefix("\(AdminPanel.path)/") else { return nil }
        return path.dropFirst(AdminPanel.path.count + 1).split(separator: "/", omittingEmptySubsequences: false)
    }

    /// The path without its parameters' names, which don't distinguish paths.
    private static func shape(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false).map { isParameter($0) ? "{}" : $0 }
    }

    private static func isParameter(_ part: Substring) -> Bool {
        part.hasPrefix("{") && part.hasSuffix("}") && isName(part.dropFirst().dropLast())
    }

    private static func isName(_ part: Substring) -> Bool {
        !part.isEmpty && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }
}
