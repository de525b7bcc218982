#include "textflag.h"

// Sixteen times a quote, a backslash, the bit in which square brackets differ from
// braces, and both braces.
DATA look<>+0x00(SB)/8, $0x2222222222222222
DATA look<>+0x08(SB)/8, $0x2222222222222222
DATA look<>+0x10(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA look<>+0x18(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA look<>+0x20(SB)/8, $0x2020202020202020
DATA look<>+0x28(SB)/8, $0x2020202020202020
DATA look<>+0x30(SB)/8, $0x7b7b7b7b7b7b7b7b
DATA look<>+0x38(SB)/8, $0x7b7b7b7b7b7b7b7b
DATA look<>+0x40(SB)/8, $0x7d7d7d7d7d7d7d7d
DATA look<>+0x48(SB)/8, $0x7d7d7d7d7d7d7d7d
GLOBL look<>(SB), RODATA|NOPTR, $0x50

// SCAN adds the bits of sixteen bytes of the block at SI to R8, R9, R10 and R11.
#define SCAN(at) \
	MOVOU    at(SI), X0  \
	MOVO     X0, X1      \
	PCMPEQB  X8, X1      \
	PMOVMSKB X1, AX      \
	SHLQ     $at, AX     \
	ORQ      AX, R8      \
	MOVO     X0, X2      \
	PCMPEQB  X9, X2      \
	PMOVMSKB X2, BX      \
	SHLQ     $at, BX     \
	ORQ      BX, R9      \
	POR      X10, X0     \
	MOVO     X0, X3      \
	PCMPEQB  X11, X3     \
	PMOVMSKB X3, CX      \
	SHLQ     $at, CX     \
	ORQ      CX, R10     \
	PCMPEQB  X12, X0     \
	PMOVMSKB X0, DX      \
	SHLQ     $at, DX     \
	ORQ      DX, R11

// func scanBlock(block *[blockSize]byte) (quoted, slashes, opening, closing uint64)
TEXT ·scanBlock(SB), NOSPLIT, $0-40
	MOVQ  block+0(FP), SI
	MOVOU look<>+0x00(SB), X8
	MOVOU look<>+0x10(SB), X9
	MOVOU look<>+0x20(SB), X10
	MOVOU look<>+0x30(SB), X11
	MOVOU look<>+0x40(SB), X12
	XORQ  R8, R8
	XORQ  R9, R9
	XORQ  R10, R10
	XORQ  R11, R11
	SCAN(0)
	SCAN(16)
	SCAN(32)
	SCAN(48)
	MOVQ  R8, quoted+8(FP)
	MOVQ  R9, slashes+16(FP)
	MOVQ  R10, opening+24(FP)
	MOVQ  R11, closing+32(FP)
	RET
