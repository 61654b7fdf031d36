import Foundation

/// Writes a line to standard output immediately, even if that is a pipe.
func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
}
