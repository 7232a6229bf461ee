"""The diseases of the generated patients: real ICD-10 three-character codes with rough facts about each block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

AGES = 100
SEXES = ("F", "M")
STROKE = "I64"
"""The code that stands for the paper's disease 'stroke': ICD-10 titles I64 "Stroke, not specified ..."."""


class Block(NamedTuple):
    """Codes that go together, the commonest first, and what is roughly true of all of them."""

    codes: str
    weight: float
    peak: float
    """The age at which the block is commonest."""
    spread: float
    """How many years around the peak it is common; 99 is any age."""
    female: float
    """The share of women, where there are as many women as men."""
    days: float
    """The mean length of stay without surgery."""
    surgery: float
    """The share with surgery."""


BLOCKS = (
    Block("A09 A04 A08 A02 A05 A00 A01 A03 A06 A07", 34, 4, 22, 0.5, 2.5, 0.00),
    Block("A16 A15 A18 A17 A19", 5, 62, 26, 0.42, 9, 0.02),
    Block("A41 A40 A38 A37 A36 A39", 3, 70, 30, 0.48, 12, 0.03),
    Block("A63 A60 A54 A56 A59 A53 A51 A52", 5, 30, 13, 0.6, 1.3, 0.02),
    Block("B02 B00 B08 B07 B09 B01 B05 B06", 20, 18, 34, 0.54, 1.9, 0.01),
    Block("B18 B15 B16 B17 B19", 8, 47, 16, 0.4, 2.6, 0.00),
    Block("B24 B20 B22 B23 B21", 0.7, 38, 12, 0.12, 6, 0.01),
    Block("B35 B37 B36", 22, 52, 27, 0.52, 1.1, 0.00),
    Block("C16 C18 C20 C22 C25 C24 C15 C23 C19 C17 C21 C26", 15, 66, 14, 0.36, 8, 0.24),
    Block("C34 C32 C33 C31 C30", 5, 69, 12, 0.28, 9, 0.12),
    Block("C44 C43", 1.2, 70, 18, 0.52, 4, 0.55),
    Block("C50", 5, 51, 12, 0.99, 4, 0.18),
    Block("C53 C56 C54 C57 C51 C52 C55", 3.2, 53, 15, 1.0, 6, 0.26),
    Block("C61 C62 C60 C63", 3.2, 72, 11, 0.0, 5, 0.22),
    Block("C67 C64 C65 C66 C68", 3, 67, 14, 0.27, 6, 0.35),
    Block("C73 C71 C70 C72", 9, 49, 15, 0.78, 4, 0.28),
    Block("C83 C85 C92 C90 C91 C82 C81 C95 C93 C94", 3, 56, 24, 0.45, 12, 0.03),
    Block("D12 D17 D23 D22 D18 D34", 14, 52, 19, 0.5, 1.4, 0.38),
    Block("D25 D27 D24 D26 D28", 9, 42, 10, 1.0, 3, 0.32),
    Block("D50 D64 D69 D61 D63 D51 D53 D59 D66 D68 D52 D55 D56 D57 D58 D60 D62 D65 D67", 9, 40, 30, 0.7, 2.8, 0.01),
    Block("E11 E14 E10 E13 E12", 46, 64, 14, 0.47, 2.2, 0.01),
    Block("E03 E04 E05 E06 E07 E01 E02 E00", 22, 48, 16, 0.83, 1.2, 0.03),
    Block("E78 E66 E87 E86 E83 E79 E88 E84 E85 E72 E74 E75 E76 E77 E70 E71 E73", 22, 58, 16, 0.54, 1.5, 0.00),
    Block("E22 E27 E26 E24 E23 E20 E21 E25", 2, 34, 24, 0.6, 2.5, 0.06),
    Block("F03 F00 F01 F05 F02", 9, 82, 8, 0.66, 45, 0.00),
    Block("F10 F17 F19 F11 F13 F15 F12 F14 F16 F18", 6, 48, 13, 0.16, 38, 0.00),
    Block("F20 F25 F22 F23 F29 F21 F24 F28", 8, 44, 14, 0.48, 70, 0.00),
    Block("F32 F33 F31 F34 F30", 17, 54, 19, 0.66, 7, 0.00),
    Block("F41 F43 F45 F51 F42 F40 F44 F50 F52", 19, 49, 20, 0.62, 1.6, 0.00),
    Block("F90 F84 F80 F82 F81 F93 F95 F98 F83 F70 F71 F72 F73", 7, 9, 6, 0.28, 2.2, 0.00),
    Block("G43 G44 G47 G45 G40 G41 G46", 25, 48, 22, 0.62, 1.7, 0.01),
    Block("G20 G30 G31 G25 G24 G21 G22 G23", 5, 77, 9, 0.58, 12, 0.01),
    Block("G56 G51 G54 G58 G50 G57 G52 G55 G59 G53", 9, 54, 15, 0.62, 1.8, 0.12),
    Block("G81 G82 G80 G83", 3, 62, 24, 0.42, 40, 0.01),
    Block("G00 G03 G04 G06 G02 G09 G05 G07 G08 G01", 1, 12, 22, 0.45, 8, 0.02),
    Block("H10 H04 H01 H00 H02 H11 H16 H15 H18 H20 H17 H19 H21 H22 H03 H05 H06 H13", 50, 40, 29, 0.58, 1.0, 0.02),
    Block("H25 H26 H28 H27", 12, 71, 10, 0.6, 1.2, 0.52),
    Block("H40 H43 H35 H33 H34 H36 H30 H31 H32 H42 H44 H45", 12, 63, 15, 0.52, 1.2, 0.09),
    Block("H52 H50 H53 H49 H51 H54 H57", 14, 22, 26, 0.54, 1.0, 0.02),
    Block("H66 H60 H65 H61 H72 H69 H68 H71 H70 H73 H74 H67 H75 H62", 32, 6, 26, 0.5, 1.1, 0.02),
    Block("H81 H90 H91 H93 H83 H92 H80 H82", 10, 62, 17, 0.6, 1.6, 0.01),
    Block("I10 I11 I12 I13 I15", 88, 66, 13, 0.53, 1.2, 0.00),
    Block("I20 I25 I21 I24 I22 I23", 14, 67, 12, 0.42, 3.6, 0.10),
    Block("I48 I50 I49 I47 I34 I35 I42 I44 I45 I51 I33 I40 I46 I30 I31 I05 I06 I07 I08 I09", 9, 69, 15, 0.48, 4, 0.05),
    Block("I26 I27 I28", 0.8, 71, 15, 0.58, 9, 0.02),
    Block("I63 I67 I61 I69 I60 I62 I65 I66 I68", 15, 71, 12, 0.5, 13, 0.05),
    Block("I84 I83 I70 I80 I73 I71 I87 I74 I85 I86 I88 I89 I81 I82 I72", 17, 53, 17, 0.5, 2.4, 0.34),
    Block("J00 J06 J03 J02 J01 J04 J05", 160, 6, 34, 0.53, 1.0, 0.00),
    Block("J20 J18 J21 J15 J12 J10 J11 J22 J13 J14 J16 J17 J09", 105, 5, 34, 0.52, 2.0, 0.00),
    Block("J30 J32 J31 J35 J34 J38 J33 J39 J36 J37", 68, 15, 28, 0.5, 1.1, 0.03),
    Block("J45 J44 J40 J43 J42 J46 J47 J41", 24, 66, 28, 0.45, 2.6, 0.00),
    Block("J90 J93 J84 J94 J85 J86 J92 J60 J80 J81 J69 J98", 4, 70, 24, 0.34, 9, 0.12),
    Block("K05 K02 K04 K08 K01 K00 K07 K03 K10 K12 K13 K06 K09 K11 K14", 132, 40, 25, 0.5, 1.0, 0.08),
    Block("K29 K21 K30 K25 K26 K27 K31 K22 K28 K20", 74, 54, 21, 0.58, 1.3, 0.01),
    Block("K35 K37 K36 K38", 4, 27, 17, 0.48, 5, 0.86),
    Block("K40 K43 K42 K41 K44 K45 K46", 2.4, 58, 28, 0.16, 3.2, 0.88),
    Block("K52 K59 K58 K51 K50 K57 K56 K63 K55", 38, 30, 31, 0.54, 1.7, 0.02),
    Block("K60 K61 K62", 4, 42, 15, 0.38, 2.7, 0.62),
    Block("K76 K74 K73 K70 K72 K75 K71 K77", 11, 54, 13, 0.33, 4, 0.01),
    Block("K80 K81 K85 K83 K86 K82 K87", 5, 60, 16, 0.48, 6, 0.46),
    Block("L23 L20 L30 L21 L25 L24 L27 L28 L29 L22 L26", 56, 30, 30, 0.55, 1.0, 0.00),
    Block("L02 L03 L01 L08 L04 L05 L00", 18, 36, 28, 0.47, 1.6, 0.14),
    Block("L50 L70 L63 L72 L40 L80 L84 L60 L65 L81 L82 L64 L71 L43 L42 L51 L52", 31, 34, 21, 0.54, 1.1, 0.06),
    Block("M54 M51 M48 M47 M50 M53 M46 M45 M43 M41", 82, 60, 16, 0.6, 2.4, 0.04),
    Block("M17 M15 M19 M16 M18", 36, 70, 11, 0.77, 2.2, 0.05),
    Block("M25 M23 M24 M21 M20 M22", 21, 48, 24, 0.56, 2.0, 0.08),
    Block("M06 M10 M05 M13 M08 M11 M12 M14 M07 M09", 9, 56, 17, 0.6, 1.6, 0.01),
    Block("M75 M77 M79 M65 M72 M70 M76 M62 M60 M67 M71 M66", 60, 53, 16, 0.58, 1.4, 0.04),
    Block("M81 M80 M87 M86 M84 M85 M89 M82 M83 M88", 8, 73, 10, 0.86, 3.2, 0.06),
    Block("N30 N39 N10 N34 N12 N32 N31 N11", 20, 47, 21, 0.85, 1.7, 0.01),
    Block("N18 N04 N17 N02 N03 N05 N19 N00 N08 N01 N06 N07", 6, 64, 18, 0.42, 7, 0.05),
    Block("N20 N23 N21 N22 N13", 7, 48, 14, 0.36, 1.8, 0.28),
    Block("N40 N41 N48 N45 N46 N47 N49 N50 N42 N43 N44", 17, 67, 15, 0.0, 1.3, 0.05),
    Block("N60 N63 N64 N61 N62", 6, 42, 11, 0.97, 1.1, 0.08),
    Block("N76 N72 N73 N75 N71 N70 N77 N74", 30, 36, 12, 1.0, 1.1, 0.01),
    Block("N95 N92 N94 N91 N80 N83 N84 N87 N93 N81 N97 N85 N88 N89 N90 N86 N96 N98 N82", 26, 41, 13, 1.0, 1.4, 0.09),
    Block("O80 O82 O81 O83 O84", 5, 31, 4.5, 1.0, 4, 0.42),
    Block("O20 O26 O03 O02 O04 O00 O21 O23 O24 O14 O13 O10 O01 O05 O06", 7, 31, 5, 1.0, 2.4, 0.16),
    Block("O47 O60 O42 O34 O36 O32 O44 O33 O35 O41 O45 O48 O40 O43 O46 O30", 3.5, 31, 5, 1.0, 5, 0.3),
    Block("O70 O72 O62 O68 O64 O66 O71 O63 O61 O65 O67 O69 O75 O90 O86 O91 O85 O92", 1.5, 31, 5, 1.0, 4, 0.2),
    Block("P59 P22 P07 P05 P21 P28 P36 P39 P92 P23 P24 P29 P08 P20", 3, 0, 0.6, 0.46, 7, 0.01),
    Block("Q21 Q35 Q65 Q66 Q25 Q37 Q20 Q22 Q23 Q24 Q27 Q28 Q36 Q26", 2, 2, 9, 0.47, 5, 0.3),
    Block(
        "R10 R51 R50 R42 R05 R11 R07 R06 R04 R00 R55 R73 R31 R53 R56 R13 R14 R12 R01 R02", 45, 45, 33, 0.56, 1.3, 0.00
    ),
    Block("S93 S83 S82 S92 S91 S86 S80 S81 S90 S89", 34, 34, 24, 0.46, 3, 0.06),
    Block("S63 S61 S62 S60 S52 S51 S53 S50 S42 S43 S40 S41 S66 S68", 34, 34, 25, 0.42, 2.4, 0.12),
    Block("S33 S13 S32 S22 S20 S30 S23 S12 S14 S34 S31 S21", 34, 47, 19, 0.52, 3.8, 0.02),
    Block("S06 S01 S00 S02 S05 S03 S09 S04 S08 S07", 19, 34, 29, 0.4, 4, 0.06),
    Block("S72 S76 S73 S70 S71 S78", 3, 76, 18, 0.62, 19, 0.55),
    Block(
        "T14 T78 T23 T24 T25 T30 T22 T20 T21 T15 T16 T17 T63 T50 T42 T43 T36 T39 T40 T75", 21, 33, 27, 0.47, 1.5, 0.03
    ),
    Block("Z00 Z01 Z12 Z03 Z34 Z30 Z51 Z47 Z48 Z96", 18, 48, 23, 0.58, 1.1, 0.01),
)


@dataclass(frozen=True)
class Diseases:
    """All diseases with what is true of each: arrays of one entry a code, in the order of `codes`."""

    codes: tuple[str, ...]
    weight: NDArray[np.float64]
    """[sex, age, disease]: how common, not yet a share. The calibrated stroke weighs nothing here."""
    days: NDArray[np.float64]
    surgery: NDArray[np.float64]


def diseases() -> Diseases:
    """The table of diseases, sorted by code.

    weight(sex, age, code) = block weight * tail(rank) * sex share * (0.02 + exp(-((age - peak) / spread)^2 / 2)) / area

    `tail(rank)` = (rank + 1)^-1.4, shared out within the block, makes the long tail; `area` is the bell's sum over the
    ages, so that a narrow block is not a rare one; the 0.02 lets nearly everything happen at nearly every age, except
    in blocks whose spread is under ten years (births, newborns), which stay where they belong.
    """
    ages = np.arange(AGES, dtype=np.float64)
    rows = []
    for block in BLOCKS:
        codes = block.codes.split()
        tail = np.arange(1, len(codes) + 1, dtype=np.float64) ** -1.4
        bell = np.exp(-(((ages - block.peak) / block.spread) ** 2) / 2) + (0.02 if block.spread >= 10 else 0.0)
        bell /= bell.sum()
        by_sex = np.array([block.female, 1 - block.female])
        rows += [
            (code, block.weight * share * by_sex[:, None] * bell, block.days, block.surgery)
            for code, share in zip(codes, tail / tail.sum(), strict=True)
        ]
    rows.append((STROKE, np.zeros((len(SEXES), AGES)), 4.0, 0.04))
    rows.sort(key=lambda row: row[0])
    return Diseases(
        codes=tuple(row[0] for row in rows),
        weight=np.stack([row[1] for row in rows], axis=-1),
        days=np.array([row[2] for row in rows]),
        surgery=np.array([row[3] for row in rows]),
    )
