import HTTPTypes
import Hummingbird
import TomboloHTTP
import TomboloModel
import TomboloRules

/// `GET /export/{collection}?format=csv`: all resources that a list with the same filters would show, in one answer.
extension JSONAPIRoutes {
    /// Outside of ``path``, where a resource might have the id `export`.
    static let exportPath = "/export/{collection}"
    private static let ownParameters: Set<String> = ["format", "formulas"]

    func addExport(to routes: Routes) {
        routes.on(.get, Self.exportPath, access: access("read") { _ in [.read] }) { request, _, grant in
            let (view, type) = try view(grant)
            return try await export(request, type, view)
        }
    }

    private func export(_ request: Request, _ type: ResourceType, _ view: CallerView) async throws -> Response {
        let parameters = try RequestParameters(request)
        let format = try Self.format(parameters)
        let guardsFormulas = try Self.guardsFormulas(parameters)
        let query = try ResourceQuery(parameters.without(Self.ownParameters), .rows, of: type, for: view)
        // The order by id of lists would cost a sort of all rows that nobody asked for.
        let isSorted = parameters.all.contains { $0.name == "sort" }
        let statement = try ExportStatement(
            type, query, sorts: isSorted ? query.sorts : [], format: format, guardsFormulas: guardsFormulas, for: view)
        let (places, user) = (exportPlaces, view.subject.userID)
        try places.take(user)
        let stream = ExportStream(statement, pool) { places.giveBack(user) }
        return try await stream.response(format, fileName: type.name)
    }

    private static func format(_ parameters: RequestParameters) throws -> ExportFormat {
        guard let parameter = parameters.all.first(where: { $0.name == "format" }) else { return .csv }
        guard let format = ExportFormat(rawValue: parameter.value) else {
            let known = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw parameter.failure("there is no such format.", "Send one of \(known).")
        }
        return format
    }

    private static func guardsFormulas(_ parameters: RequestParameters) throws -> Bool {
        guard let parameter = parameters.all.first(where: { $0.name == "formulas" }) else { return true }
        switch parameter.value {
        case "guarded": return true
        case "plain": return false
        default: throw parameter.failure("it's neither 'guarded' nor 'plain'.", "Leave it out for 'guarded'.")
        }
    }
}
