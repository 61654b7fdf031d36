import AdminService
import HTTPTypes
import Hummingbird
import Logging
import TomboloHTTP
import TomboloModel
import TomboloServerModel
import TomboloLocalization

/// Runs a single read-only SQL statement for super administrators, if the operator has made a database user for it. The
/// statement is never part of an address: forms are sent by POST.
struct SQLPages: PanelSection {
    static let path = "\(AdminPanel.path)/sql"
    /// The maximum size of a statement in a line of the log.
    private static let loggedBytes = 2_000
    private static let template = PanelTemplate(PackageResources.sql_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models, let console = panel.core.sql else { return }
        let access = RouteAccess.everyMatrix(of: models)
        panel.page(Self.path, entry: PanelEntry("SQL", in: .system), access: access) { request, _ in
            if let viewing = request.visit.viewing {
                throw RequestFailure(
                    .forbidden, "SQL shows what the database user may read, not what \(viewing.title) may see.",
                    hint: "Stop viewing as \(viewing.title) first: the button is at the top of every page.")
            }
            return .page(page(request, SQLContent("", console.bounds)))
        }
        panel.action(Self.path, access: access, demands: .recentPassword) { request, _ in
            .page(try await run(request, console))
        }
    }

    private func page(_ request: PanelRequest, _ content: SQLContent, status: HTTPResponse.Status = .ok) -> PanelPage {
        PanelPage(localized("SQL"), content: Self.template.render(request.values(content)), status: status)
    }

    /// Runs the statement. The server's log records who runs what before it runs, and the outcome afterwards, whatever
    /// it is.
    private func run(_ request: PanelRequest, _ console: SQLConsole) async throws -> PanelPage {
        let statement = (request.form["sql"] ?? "").replacing("\r\n", with: "\n")
        let logger = request.context.logger
        logger.notice("\(request.userID) runs SQL: \(statement.shortened(toByteCount: Self.loggedBytes).forLog)")
        do {
            let result = try await console.run(statement, logger: logger)
            let content = SQLContent(statement, console.bounds, result: result)
            let summary = MessageCatalogue.$current.withValue(nil) { SQLContent.summary(of: result) }
            logger.notice("\(request.userID)'s SQL statement returned \(summary).")
            return page(request, content)
        } catch let problem as SQLProblem {
            let message = MessageCatalogue.$current.withValue(nil) { problem.message }
            logger.notice("\(request.userID)'s SQL statement failed: \(message.forLog)")
            return page(
                request, SQLContent(statement, console.bounds, problem: problem), status: Self.status(of: problem))
        } catch {
            logger.notice("\(request.userID)'s SQL statement got no response: \(error)")
            throw error
        }
    }

    private static func status(of problem: SQLProblem) -> HTTPResponse.Status {
        switch problem {
        case .empty, .tooLong, .refused: .unprocessableContent
        case .busy, .unsafeUser, .pooled, .unreachable: .serviceUnavailable
        }
    }
}
