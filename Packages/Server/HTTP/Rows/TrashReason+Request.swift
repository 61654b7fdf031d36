public import TomboloModel

extension TrashReason {
    /// The reason that a request gives.
    /// - Parameters:
    ///   - json: nil or null for none.
    ///   - source: where the reason is in the request.
    /// - Throws: ``RequestFailure`` with status 422 for anything that isn't a reason.
    public init?(_ json: JSON?, at source: RequestFailure.Source? = nil) throws {
        switch json {
        case nil, .null?: return nil
        case .string(let text)?:
            do throws(Defect) {
                try self.init(text)
            } catch {
                throw Self.failure(error, source)
            }
        default:
            throw RequestFailure(
                .unprocessable, "'reason' isn't text.", hint: "Send it as a JSON string, or leave it out.",
                source: source)
        }
    }

    private static func failure(_ defect: Defect, _ source: RequestFailure.Source?) -> RequestFailure {
        switch defect {
        case .tooLong:
            RequestFailure(
                .unprocessable, Wording("The reason is longer than \(byteLimit) bytes."),
                hint: Wording("Say it in fewer words."),
                source: source)
        case .controlCharacters:
            RequestFailure(
                .unprocessable, Wording("The reason has control characters."), hint: Wording("Send plain text."),
                source: source)
        }
    }
}
