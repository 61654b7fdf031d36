internal import GRDBSQLite
internal import TomboloModel

/// SQL functions for decimals, which SQLite stores as text:
///
/// - `decimal_order(x)`: a blob that sorts and compares like the number; NULL for NULL.
/// - `decimal_sum(x)`: the sum of all numbers; 0 for none, as in Realm.
/// - `decimal_avg(x)`, `decimal_min(x)`, `decimal_max(x)`: NULL for no numbers.
///
/// Sums and averages have no trailing zeros in their fraction.
///
/// As in Realm, the aggregates skip NULL and NaN. Text that isn't a decimal ends the statement with an error.
enum DecimalFunctions {
    static func register(on connection: OpaquePointer, path: String) throws {
        try SQLFunctions.scalar("decimal_order", arguments: 1, on: connection, path: path) { context, _, arguments in
            guard let number = DecimalFunctions.number(context, arguments) else { return }
            SQLFunctions.answer(context, blob: number.orderKey)
        }
        try SQLFunctions.aggregate("decimal_sum", on: connection, path: path) { context, _, arguments in
            DecimalFunctions.accumulate(context, arguments) { $0 + $1 }
        } result: { context in
            SQLFunctions.answer(
                context, text: DecimalFunctions.found(context)?.number.withoutTrailingZeros.description ?? "0")
        }
        try SQLFunctions.aggregate("decimal_avg", on: connection, path: path) { context, _, arguments in
            DecimalFunctions.accumulate(context, arguments) { $0 + $1 }
        } result: { context in
            guard let found = DecimalFunctions.found(context) else { return }
            let average = found.number / Decimal128(found.count)
            SQLFunctions.answer(context, text: average.withoutTrailingZeros.description)
        }
        try SQLFunctions.aggregate("decimal_min", on: connection, path: path) { context, _, arguments in
            DecimalFunctions.accumulate(context, arguments) { $1 < $0 ? $1 : $0 }
        } result: { context in
            guard let found = DecimalFunctions.found(context) else { return }
            SQLFunctions.answer(context, text: found.number.description)
        }
        try SQLFunctions.aggregate("decimal_max", on: connection, path: path) { context, _, arguments in
            DecimalFunctions.accumulate(context, arguments) { $1 > $0 ? $1 : $0 }
        } result: { context in
            guard let found = DecimalFunctions.found(context) else { return }
            SQLFunctions.answer(context, text: found.number.description)
        }
    }

    /// The state of an aggregate between rows. SQLite allocates it as zero bytes and frees it without a callback, so it
    /// contains only numbers.
    private struct State {
        var count: Int
        var number: Decimal128
    }

    /// The number in the first argument. Nil for NULL; also nil if the text isn't a number, which is reported to
    /// SQLite.
    private static func number(_ context: SQLFunctions.Context, _ arguments: SQLFunctions.Arguments) -> Decimal128? {
        guard let text = SQLFunctions.text(arguments, 0) else { return nil }
        if let number = Decimal128(utf8: text) { return number }
        do {
            return try Decimal128(string: String(decoding: text, as: UTF8.self))
        } catch {
            SQLFunctions.fail(context, error.message)
            return nil
        }
    }

    private static func accumulate(
        _ context: SQLFunctions.Context, _ arguments: SQLFunctions.Arguments,
        _ combine: (Decimal128, Decimal128) -> Decimal128
    ) {
        guard let number = number(context, arguments), !number.isNaN else { return }
        guard let memory = sqlite3_aggregate_context(context, Int32(MemoryLayout<State>.size)) else {
            return sqlite3_result_error_nomem(context)
        }
        let state = memory.assumingMemoryBound(to: State.self)
        state.pointee.number = state.pointee.count == 0 ? number : combine(state.pointee.number, number)
        state.pointee.count += 1
    }

    /// The final state, or nil if there were no numbers.
    private static func found(_ context: SQLFunctions.Context) -> State? {
        guard let memory = sqlite3_aggregate_context(context, 0) else { return nil }
        return memory.assumingMemoryBound(to: State.self).pointee
    }
}
