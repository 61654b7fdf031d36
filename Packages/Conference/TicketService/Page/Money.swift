/// Formats amounts of money for people.
enum Money {
    /// The number of decimals of currencies whose minor unit doesn't have two (ISO 4217).
    private static let decimals = [
        "BHD": 3, "BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "IQD": 3, "ISK": 0, "JOD": 3, "JPY": 0, "KMF": 0, "KRW": 0,
        "KWD": 3, "LYD": 3, "OMR": 3, "PYG": 0, "RWF": 0, "TND": 3, "UGX": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0,
        "XPF": 0,
    ]

    /// 1050 minor units of EUR are `10.50 EUR`.
    static func text(minorUnits: Int64, currency: String) -> String {
        let places = decimals[currency] ?? 2
        let sign = minorUnits < 0 ? "-" : ""
        var digits = String(minorUnits.magnitude)
        if places > 0 {
            digits = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -places))
        }
        return "\(sign)\(digits) \(currency)"
    }
}
