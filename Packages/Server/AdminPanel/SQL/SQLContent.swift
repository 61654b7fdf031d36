import AdminService
import TomboloLocalization

/// The values for the template `sql`: the form, and the outcome of the submitted statement.
struct SQLContent: Sendable {
    struct Problem: Sendable {
        let message: String
        let detail: String?
        let hint: String?
        let place: String?
    }

    struct Row: Sendable {
        let cells: [Cell]
    }

    struct Cell: Sendable {
        let text: String
        let isNull: Bool
        let isCut: Bool
    }

    let path = SQLPages.path
    let statement: String
    let variable = SQLConsole.variable
    let maximumRows: String
    let seconds: Int64
    let problem: Problem?
    let isDone: Bool
    /// See ``summary(of:)``.
    let summary: String
    /// Why rows are missing.
    let excess: String?
    let columns: [String]
    let rows: [Row]

    init(_ statement: String, _ bounds: SQLBounds, result: SQLResult? = nil, problem: SQLProblem? = nil) {
        self.statement = statement
        maximumRows = PanelNumber.text(bounds.rows)
        seconds = bounds.statementTimeout.components.seconds
        self.problem = problem.map { problem in
            Problem(
                message: problem.message, detail: problem.detail, hint: problem.hint,
                place: problem.place.map { localized("Line \($0.line), column \($0.column)") })
        }
        isDone = result != nil
        columns = result?.columns ?? []
        rows = (result?.rows ?? []).map { row in
            Row(cells: row.map { Cell(text: $0.text ?? "", isNull: $0.text == nil, isCut: $0.isCut) })
        }
        guard let result else {
            (summary, excess) = ("", nil)
            return
        }
        summary = Self.summary(of: result)
        excess =
            switch result.excess {
            case nil: nil
            case .rows?: localized("There are more rows: only the first \(maximumRows) are shown.")
            case .bytes?:
                localized(
                    "There are more rows than a page can show. Select fewer or shorter columns.")
            }
    }

    /// The number of rows and the duration.
    static func summary(of result: SQLResult) -> String {
        let milliseconds = PanelNumber.text(Int((result.duration / .milliseconds(1)).rounded()))
        let tag = result.columns.isEmpty && !result.commandTag.isEmpty ? "\(result.commandTag): " : ""
        let (count, number) = (result.rows.count, PanelNumber.text(result.rows.count))
        return tag
            + localized(
                count, one: "\(number) row in \(milliseconds) ms", other: "\(number) rows in \(milliseconds) ms")
    }
}
