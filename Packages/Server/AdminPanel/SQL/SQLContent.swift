import AdminService

/// What the template `sql` shows: the form, and what came of the statement that was sent.
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
    /// How many rows, in how long.
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
                place: problem.place.map { "Line \($0.line), column \($0.column)" })
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
        let milliseconds = Int((result.duration / .milliseconds(1)).rounded())
        let count = "\(PanelNumber.text(rows.count)) row\(rows.count == 1 ? "" : "s")"
        let tag = result.columns.isEmpty && !result.commandTag.isEmpty ? "\(result.commandTag): " : ""
        summary = "\(tag)\(count) in \(PanelNumber.text(milliseconds)) ms"
        excess =
            switch result.excess {
            case nil: nil
            case .rows?: "There are more rows: only the first \(maximumRows) are shown."
            case .bytes?: "There are more rows: these are as many as a page can show. Select fewer or shorter columns."
            }
    }
}
